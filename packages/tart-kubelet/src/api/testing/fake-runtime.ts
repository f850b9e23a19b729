import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import type { KubeObject } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { createLogNotifier } from '../../logs/log-notifier.ts';
import { createLogWriter, type LogWriter } from '../../logs/log-writer.ts';
import { readLogRecords } from '../../logs/read-log.ts';
import { badRequest, HttpError } from '../http-response.ts';
import type { TerminalSize } from '@tartan/tart';
import type { ExecRequest, PodRuntime, RemoteResult, RemoteSession } from '../pod-runtime.ts';

/** For tests: one container whose commands run on this machine, and whose main process is an echo. */
export interface FakeRuntime extends PodRuntime {
  readonly log: LogWriter;
  /** The container has ended: followers of its log end. */
  endLog(): Promise<void>;
  /** Pids of running exec'd commands. */
  readonly running: Set<number>;
  /** Commands, in order. */
  readonly commands: string[][];
  readonly sizes: TerminalSize[];
  /** Ends the main process. */
  endMain(outcome: RemoteResult): void;
  /** Number of closed attach sessions. */
  detached: number;
  /** The main process stops reading. */
  stalled: boolean;
}

export interface FakeRuntimeOptions {
  /** Where its logs go. */
  folder: string;
  name?: { namespace: string; pod: string; container: string };
  clock?: Clock;
}

export const createFakeRuntime = (options: FakeRuntimeOptions): FakeRuntime => {
  const { folder, clock = systemClock } = options;
  const known = options.name ?? { namespace: 'default', pod: 'vm', container: 'vm' };
  const notifier = createLogNotifier(clock);
  const path = `${folder}/0.log`;
  const log = createLogWriter({ path, clock, notifier });
  const main = Promise.withResolvers<RemoteResult>();
  let logEnded = false;

  const find = ({
    namespace,
    pod,
    container = known.container,
  }: {
    namespace: string;
    pod: string;
    container?: string;
  }) => {
    if (namespace === known.namespace && pod === known.pod && container === known.container) return;
    throw new HttpError(404, `Pod ${namespace}/${pod} has no container ${container} here`);
  };

  const spawned = (request: ExecRequest): RemoteSession => {
    const [file = '', ...args] = request.command;
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout = new PassThrough();
    if (child.pid !== undefined) runtime.running.add(child.pid);
    child.stdin.on('error', () => {});
    if (!request.stdin) child.stdin.end();
    child.stdout.pipe(stdout);
    const result = new Promise<RemoteResult>((resolve) => {
      child.once('error', (error) => {
        stdout.end();
        resolve({ kind: 'failed', message: `cannot run ${file}: ${error.message}` });
      });
      child.once('exit', (code, signal) => {
        if (child.pid !== undefined) runtime.running.delete(child.pid);
        resolve(code === null ? { kind: 'failed', message: `ended by ${signal}` } : { kind: 'exited', code });
      });
    });
    return {
      stdin: request.stdin ? child.stdin : undefined,
      stdout,
      stderr: request.tty || !request.stderr ? undefined : child.stderr,
      resize: (size) => {
        runtime.sizes.push(size);
        stdout.write(`size ${size.columns}x${size.rows}\n`);
      },
      result,
      close: () => void child.kill('SIGKILL'),
    };
  };

  const runtime: FakeRuntime = {
    log,
    running: new Set(),
    commands: [],
    sizes: [],
    detached: 0,
    stalled: false,
    endLog: async () => {
      logEnded = true;
      await log.close();
    },
    endMain: (outcome) => main.resolve(outcome),
    pods: (): readonly KubeObject[] => [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: known.pod, namespace: known.namespace } },
    ],
    readLog: async (container, { follow, previous, tailLines, signal }) => {
      find(container);
      if (previous) throw badRequest(`previous terminated container "${container.container}" not found`);
      const following = follow ? { notifier, ended: () => logEnded, signal } : undefined;
      return readLogRecords(path, { tailLines, follow: following });
    },
    exec: async (container, request) => {
      find(container);
      runtime.commands.push([...request.command]);
      return spawned(request);
    },
    attach: async (container, { stdin }) => {
      find(container);
      const output = new PassThrough();
      const input = new PassThrough();
      if (!runtime.stalled) {
        input.on('data', (chunk: Buffer) => output.write(`main: ${chunk.toString()}`));
      }
      void main.promise.then(() => output.end());
      return {
        stdin: stdin ? input : undefined,
        stdout: output,
        stderr: undefined,
        resize: (size) => runtime.sizes.push(size),
        result: main.promise,
        close: () => {
          runtime.detached += 1;
          output.end();
        },
      };
    },
    dial: async (pod, port, signal) => {
      find(pod);
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      try {
        await once(socket, 'connect', { signal });
      } catch {
        socket.destroy();
        throw new HttpError(500, 'connection refused');
      }
      return socket;
    },
    usage: async () => ({
      node: { at: 1000, cpuSeconds: 12.5, memoryBytes: 1024 },
      containers: [{ ...known, at: 1000, cpuSeconds: 1.5, memoryBytes: 512, startedAt: 500_000 }],
    }),
  };
  return runtime;
};
