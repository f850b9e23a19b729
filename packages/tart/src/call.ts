import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Clock } from '@tartan/kube/clock';
import { redact } from './redact.ts';
import { classifyError, TartError, type TartReason } from './tart-error.ts';
import type { Timeout } from './timeouts.ts';

/** Signals a process and all its children. Each tart call has its own process group. */
const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has no process left.
  }
};

/** Time between SIGTERM and SIGKILL, and time to wait after the exit for children that hold the pipes open. */
export const graceMs = 2000;

/** Terminates the process group when `signal` fires. */
export const createTerminator = (
  child: ChildProcess,
  clock: Clock,
  command: string,
  signal: AbortSignal | undefined,
) => {
  let terminatedBy: TartError | undefined;
  let cancelKill = (): void => {};
  const terminate = (error: TartError): void => {
    if (terminatedBy !== undefined) return;
    terminatedBy = error;
    signalGroup(child, 'SIGTERM');
    cancelKill = clock.after(graceMs, () => signalGroup(child, 'SIGKILL'));
  };
  const abort = (): void => terminate(abortedError(command, signal?.reason));
  signal?.addEventListener('abort', abort, { once: true });
  return {
    /** Why it was terminated. */
    cause: () => terminatedBy,
    /** Sends SIGTERM, then SIGKILL after a grace period. Only the first call has an effect. */
    terminate,
    abort,
    /** Call when the process has ended. */
    stop: () => {
      cancelKill();
      signal?.removeEventListener('abort', abort);
    },
  };
};

const abortedError = (command: string, cause?: unknown): TartError =>
  new TartError('aborted', `tart ${command} was ended by its caller`, { command, cause });

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** Dependencies of a call. */
export interface CallDeps {
  readonly path: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly spawn: Spawn;
}

interface CallOptions {
  readonly timeout: Timeout;
  readonly signal?: AbortSignal | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  readonly onOutput?: (text: string) => void;
  /** Redacted in errors. */
  readonly secrets?: readonly string[];
}

const maxTail = 4096;
/** A list of a thousand VMs is 250 KB. */
const maxOutput = 8 * 1024 * 1024;

const reasonFor = (error: unknown): TartReason =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')
    ? 'not installed'
    : 'other';

/**
 * Runs `tart <args>` to its end and resolves with its stdout.
 *
 * Flow: start in its own process group → output → exit → at most 2 s for the pipes to close.
 * Guarantees: settles within its timeout plus 4 s, whatever the process and its children do; rejects only with a TartError.
 * Caveats: a killed call may have completed its work. If this process is killed, the group survives.
 */
export const callTart = (deps: CallDeps, args: readonly string[], options: CallOptions): Promise<string> => {
  const { clock } = deps;
  const { timeout, signal } = options;
  const [command = ''] = args;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortedError(command, signal.reason));
    let stdout = '';
    /** The end of stderr, which has the cause of a failure. */
    let tail = '';
    let cancelGrace = (): void => {};
    const child = deps.spawn(deps.path, args, {
      detached: true,
      env: { ...deps.environment, ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const terminator = createTerminator(child, clock, command, signal);
    const timer = timeout.start(clock, () =>
      terminator.terminate(
        new TartError('timed out', `tart ${command} did not end ${timeout.description}; it was killed`, { command }),
      ),
    );
    const settle = (end: () => void): void => {
      timer.stop();
      terminator.stop();
      cancelGrace();
      end();
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      timer.progressed();
      if (stdout.length + text.length > maxOutput)
        terminator.terminate(
          new TartError('unreadable', `tart ${command} answered with more than 8 MB; it was killed`, { command }),
        );
      else stdout += text;
      options.onOutput?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      timer.progressed();
      tail = (tail + text).slice(-maxTail);
    });
    child.on('error', (cause) =>
      settle(() =>
        reject(
          new TartError(
            reasonFor(cause),
            `tart could not be started: ${cause.message}. Is it installed at ${deps.path}?`,
            {
              command,
              cause,
            },
          ),
        ),
      ),
    );
    // Children may keep the pipes open forever: then `close` is never emitted.
    child.on('exit', () => {
      cancelGrace = clock.after(graceMs, () => {
        signalGroup(child, 'SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.on('close', (code, endedBy) =>
      settle(() => {
        const terminatedBy = terminator.cause();
        // Kills children that closed the pipes and ignored SIGTERM.
        if (terminatedBy !== undefined) signalGroup(child, 'SIGKILL');
        if (code === 0 && terminatedBy?.reason !== 'unreadable') return resolve(stdout);
        if (terminatedBy !== undefined) return reject(terminatedBy);
        const output = redact(tail, options.secrets).trim();
        const how = code === null ? `was ended by ${endedBy ?? 'a signal'}` : `failed with exit code ${code}`;
        reject(
          new TartError(
            classifyError(command, code ?? undefined, tail),
            `tart ${command} ${how}${output === '' ? '' : `: ${output}`}`,
            {
              command,
              tail: output,
            },
          ),
        );
      }),
    );
  });
};
