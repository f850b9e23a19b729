import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { sleep, systemClock, withTimeout } from '@tartan/kube/clock';

/** Different loopback ports that were free a moment ago. Another process may take one before its user binds it. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  try {
    await Promise.all(servers.map((server) => once(server, 'listening')));
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    for (const server of servers) server.close();
  }
};

/** A server process of the control plane. */
export interface ComponentSpec {
  name: string;
  binary: string;
  portCount: number;
  args(ports: readonly number[]): string[];
  /** Whether it serves. May throw for "not yet". It must verify that it has reached this process and not another one on its port. */
  isReady(ports: readonly number[], signal: AbortSignal): Promise<boolean>;
}

export interface Component {
  ports: readonly number[];
  pid: number;
  /** Ends the process, by force if necessary, and waits until it is gone. Idempotent. */
  stop(): Promise<void>;
  /** Kills it without waiting: for a parent that is about to exit. */
  kill(): void;
}

export interface StartOptions {
  /** The folder of its log `<name>.log`. */
  dir: string;
  deadlineMilliseconds: number;
  stopMilliseconds?: number;
  choosePorts?: (count: number) => Promise<number[]>;
  /** Called with every process before anything else can fail. */
  onSpawn?: (component: Component) => void;
}

const attempts = 5;
const pollMilliseconds = 50;
const requestMilliseconds = 2_000;
const logLinesShown = 30;
const portTaken = /address already in use|EADDRINUSE/;

/** Starts a component and waits until it is ready. Retries if another process took a port in between. */
export const startComponent = async (spec: ComponentSpec, options: StartOptions): Promise<Component> => {
  const deadline = systemClock.monotonic() + options.deadlineMilliseconds;
  for (let attempt = 1; ; attempt++) {
    const ports = await (options.choosePorts ?? freePorts)(spec.portCount);
    const log = join(options.dir, `${spec.name}.log`);
    const process = spawnLogged(spec, ports, log);
    const component = componentOf(ports, process, options.stopMilliseconds ?? 10_000);
    options.onSpawn?.(component);
    const outcome = await readiness(spec, ports, process, deadline);
    if (outcome === 'ready') return component;
    await component.stop();
    const text = readFileSync(log, 'utf8');
    if (outcome === 'exited' && portTaken.test(text) && attempt < attempts) continue;
    throw new Error(
      `${failure(spec, outcome, process, options.deadlineMilliseconds)}; the end of its log:\n${tail(text)}`,
    );
  }
};

/**
 * Becomes the command in its arguments, beside a process that kills it when file descriptor 3 ends: its other end is held by the owner
 * alone, so it ends with the owner, however that ends. A line on it says that there is nothing left to kill.
 */
const endWithOwner = '{ read -r _ <&3 || kill -KILL $$; } & exec 3<&-; exec "$@"';

const spawnLogged = (spec: ComponentSpec, ports: readonly number[], log: string): ChildProcess => {
  const file = openSync(log, 'w');
  try {
    // Its own process group: Ctrl-C reaches only the parent, which stops the components in the right order.
    const stdio = ['ignore', file, file, 'pipe'] as const;
    const command = ['-c', endWithOwner, spec.name, spec.binary, ...spec.args(ports)];
    const process = spawn('/bin/sh', command, { stdio: [...stdio], detached: true });
    const held = process.stdio[3] as Socket;
    held.on('error', () => {});
    process.once('exit', () => held.end('\n'));
    return process;
  } finally {
    closeSync(file);
  }
};

const hasExited = (process: ChildProcess): boolean => process.exitCode !== null || process.signalCode !== null;

const componentOf = (ports: readonly number[], process: ChildProcess, stopMilliseconds: number): Component => {
  const gone = new Promise<void>((resolve) => {
    process.once('exit', () => resolve());
    process.once('error', () => resolve());
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    if (process.pid === undefined || hasExited(process)) return;
    process.kill('SIGTERM');
    const cancelKill = systemClock.after(stopMilliseconds, () => process.kill('SIGKILL'));
    await gone;
    cancelKill();
  };
  return {
    ports,
    pid: process.pid ?? 0,
    stop: () => (stopping ??= stop()),
    kill: () => {
      if (process.pid !== undefined && !hasExited(process)) process.kill('SIGKILL');
    },
  };
};

type Outcome = 'ready' | 'exited' | 'late';

const readiness = async (
  spec: ComponentSpec,
  ports: readonly number[],
  process: ChildProcess,
  deadline: number,
): Promise<Outcome> => {
  while (systemClock.monotonic() < deadline) {
    const ready = await withTimeout(systemClock, requestMilliseconds, (signal) => spec.isReady(ports, signal)).catch(
      () => false,
    );
    if (hasExited(process)) return 'exited';
    if (ready) return 'ready';
    await sleep(systemClock, pollMilliseconds);
  }
  return 'late';
};

const failure = (spec: ComponentSpec, outcome: Outcome, process: ChildProcess, milliseconds: number): string => {
  if (outcome === 'late') return `${spec.name} was not ready within ${milliseconds / 1000} s`;
  return `${spec.name} ended with ${process.signalCode ?? `exit code ${process.exitCode}`} before it was ready`;
};

const tail = (text: string): string => text.trimEnd().split('\n').slice(-logLinesShown).join('\n');
