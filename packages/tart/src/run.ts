import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Clock, sleep } from '@tartan/kube/clock';
import { runArguments, type RunOptions } from './arguments.ts';
import type { CallDeps } from './call.ts';
import { isSameProcess, type ProcessIdentity, type ProcessTable } from './processes.ts';
import { redact } from './redact.ts';
import { classifyError, TartError, type TartReason } from './tart-error.ts';

/** How the process of a VM ended. `code` and `signal` are unknown if a previous agent process started the VM. */
export interface VmExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** When we noticed it. */
  readonly at: number;
}

export interface RunningVm extends ProcessIdentity {
  readonly name: string;
  readonly logFile: string;
  /** Never rejects. */
  readonly exited: Promise<VmExit>;
}

/** Readable only by us: tart's output may contain a VNC password. */
const openLog = async (file: string) => {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const openFile = () => open(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  // The folder nearly always exists.
  return openFile().catch(async () => {
    await mkdir(dirname(file), { recursive: true });
    return openFile();
  });
};

/**
 * Starts `tart run` in its own session, with a file instead of pipes: it must not receive our signals, and must survive us (INC-04).
 * No shell, no nohup, no terminal (INC-02).
 */
export const runVm = async (
  deps: CallDeps,
  processes: ProcessTable,
  name: string,
  options: RunOptions,
): Promise<RunningVm> => {
  const args = runArguments(name, options);
  const log = await openLog(options.logFile).catch((cause: unknown) => {
    throw new TartError('other', `The log of ${name} cannot be written at ${options.logFile}`, {
      command: 'run',
      cause,
    });
  });
  const startedAt = deps.clock.now();
  const child = deps.spawn(deps.path, args, {
    detached: true,
    env: { ...deps.environment },
    stdio: ['ignore', log.fd, log.fd],
  });
  const exited = new Promise<VmExit>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, at: deps.clock.now() }),
    );
  });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new TartError('not installed', `tart could not be started. Is it installed at ${deps.path}?`, {
      command: 'run',
      cause,
    });
  } finally {
    await log.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new TartError('other', 'tart was started without a process', { command: 'run' });
  // Later lookups compare the kernel's start time. Ours is used if the process has ended already or ps fails.
  const found = await processes.find(pid).catch(() => undefined);
  return { name, pid, startedAt: found?.startedAt ?? startedAt, logFile: options.logFile, exited };
};

interface PollOptions {
  readonly find: ProcessTable['find'];
  readonly clock: Clock;
  /** Polling interval. */
  readonly pollMs: number;
  /** Ends the polling: the promise then stays pending. */
  readonly signal: AbortSignal;
}

/**
 * The exit of a VM that a previous agent process started. It is not our child, so we poll, and its exit code is unknown. It counts as
 * running when a poll fails.
 */
export const pollExit = async (vm: ProcessIdentity, options: PollOptions): Promise<VmExit> => {
  const { find, clock, pollMs, signal } = options;
  for (;;) {
    const found = await find(vm.pid).catch(() => vm);
    if (signal.aborted) return new Promise(() => {});
    if (found === undefined || !isSameProcess(found, vm))
      return { code: undefined, signal: undefined, at: clock.now() };
    await sleep(clock, pollMs, signal);
    if (signal.aborted) return new Promise(() => {});
  }
};

/** Why a VM ended. Not the exit code alone: a crash and a power-off both exit with 0 (INC-409). */
export type ExitCause =
  /** `halted`: the guest shut down. `stopped`: powered off by `tart stop` or Ctrl-C. `unknown`: no output, and the exit code is unknown or 0. */
  | { readonly kind: 'halted' | 'stopped' | 'unknown' }
  /** The framework stopped it with an error, it lost its network, or tart failed to stop it. */
  | { readonly kind: 'crashed'; readonly message: string }
  /** It did not start: tart failed, and its output mentions no running guest. */
  | { readonly kind: 'failed'; readonly reason: TartReason; readonly message: string }
  | { readonly kind: 'killed'; readonly signal: string };

const maxLines = 20;
/** Tart's messages about a guest that ran: openai/tart VM.swift:281, 464, 469, 474. All of them may come with exit code 0. */
const crashPattern =
  /guest has stopped the virtual machine due to error:|network attachment .*has been disconnected with error:/;
const exitPattern = new RegExp(`${crashPattern.source}|guest has stopped the virtual machine|^Stopping VM\\.\\.\\.$`);

/** Uses the last known error: the log may contain earlier starts. */
const reasonIn = (lines: readonly string[], code: number | undefined): TartReason => {
  const known = lines.findLast((line) => classifyError('run', undefined, line) !== 'other');
  return classifyError('run', code, known ?? '');
};

/** The end of the log decides, then the exit code. Secrets in messages are redacted. */
export const exitCause = ({ code, signal }: Pick<VmExit, 'code' | 'signal'>, log: string): ExitCause => {
  const lines = stripVTControlCharacters(log)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-maxLines);
  const message = redact(lines.join('\n'));
  if (signal !== undefined) return { kind: 'killed', signal };
  const last = lines.findLast((line) => exitPattern.test(line));
  if (code !== undefined && code !== 0)
    return last === undefined
      ? { kind: 'failed', reason: reasonIn(lines, code), message }
      : { kind: 'crashed', message };
  if (last !== undefined && crashPattern.test(last)) return { kind: 'crashed', message: redact(last) };
  if (last !== undefined) return { kind: last.startsWith('Stopping') ? 'stopped' : 'halted' };
  // The exit was not observed: only the error text is left.
  const reason = code === undefined ? reasonIn(lines, code) : 'other';
  return reason === 'other' ? { kind: 'unknown' } : { kind: 'failed', reason, message };
};

/** The last `bytes` of a log file; empty if it does not exist. */
export const readLogTail = async (file: string, bytes = 8192): Promise<string> => {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(bytes, size)), {
      position: Math.max(0, size - bytes),
    });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
};
