import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Caller } from './call.ts';
import type { ProcessIdentity, ProcessTable } from './processes.ts';
import { type RunOptions, runArguments } from './run-arguments.ts';
import { TartError } from './tart-error.ts';

/** How the process of a virtual machine ended. `code` and `signal` are unknown for one that an earlier process of ours started. */
export interface VmExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** When we learned of it. */
  readonly at: number;
}

export interface RunningVm extends ProcessIdentity {
  readonly name: string;
  readonly logFile: string;
  /** Never rejects. */
  readonly exited: Promise<VmExit>;
}

/** Only for us: what tart writes may hold the password of a screen. */
const openLog = async (file: string) => {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const openIt = () => open(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  // Its folder is nearly always there.
  return openIt().catch(async () => {
    await mkdir(dirname(file), { recursive: true });
    return openIt();
  });
};

/**
 * Starts `tart run` in a session of its own, with a file instead of pipes: it must neither get our signals nor need our life (INC-04,
 * G14). No shell, no nohup, no terminal (INC-02).
 */
export const runVm = async (
  caller: Caller,
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
  const startedAt = caller.clock.now();
  const child = caller.spawn(caller.path, args, {
    detached: true,
    env: { ...caller.environment },
    stdio: ['ignore', log.fd, log.fd],
  });
  const exited = new Promise<VmExit>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ code: code ?? undefined, signal: signal ?? undefined, at: caller.clock.now() }),
    );
  });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new TartError('not installed', `tart could not be started. Is it installed at ${caller.path}?`, {
      command: 'run',
      cause,
    });
  } finally {
    await log.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new TartError('other', 'tart was started without a process', { command: 'run' });
  // The kernel's word for when it began is what it is recognised by later. Ours is as good if it is gone already, or ps does not answer.
  const found = await processes.find(pid).catch(() => undefined);
  return { name, pid, startedAt: found?.startedAt ?? startedAt, logFile: options.logFile, exited };
};
