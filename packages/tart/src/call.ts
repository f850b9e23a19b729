import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Clock } from '@tartan/kube/clock';
import type { Redact } from './redact.ts';
import { classifyError, TartError, type TartReason } from './tart-error.ts';
import type { Timeout } from './timeouts.ts';

/** Sends a signal to a process and to all it has started. Each call of tart leads a group of its own. */
const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in it.
  }
};

/** Asks a group to end, and ends it after `graceMs`. The returned function takes the second part back. */
export const terminateGroup = (child: ChildProcess, clock: Clock, graceMs: number): (() => void) => {
  signalGroup(child, 'SIGTERM');
  return clock.after(graceMs, () => signalGroup(child, 'SIGKILL'));
};

/** The end of what a program writes, at most `cap` characters of it: the reason for a failure stands there. */
interface OutputTail {
  add(text: string): void;
  text(): string;
}

const createOutputTail = (maxLength: number): OutputTail => {
  let kept = '';
  return {
    add: (text) => {
      kept = (kept + text).slice(-maxLength);
    },
    text: () => kept,
  };
};

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** What a call needs of the world. */
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
  readonly redact: Redact;
}

/** From the polite signal to the other one, and from the end of a call to the end of waiting for those who hold its pipes. */
const graceMs = 2000;
const maxTail = 4096;
/** A list of a thousand virtual machines is a quarter of a megabyte. */
const maxOutput = 8 * 1024 * 1024;

const reasonFor = (error: unknown): TartReason =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')
    ? 'not installed'
    : 'other';

/**
 * Runs `tart <args>` to its end and answers with its stdout.
 *
 * Flow: a group of its own → output → exit → at most 2 s for the pipes to close.
 * Guarantees: settles after its patience and 4 s at most, whatever the program and its children do; rejects only with a TartError.
 * Caveats: a killed call may have done its work. The group outlives this process if that is killed meanwhile.
 */
export const callTart = (deps: CallDeps, args: readonly string[], options: CallOptions): Promise<string> => {
  const { clock } = deps;
  const { timeout, signal, redact } = options;
  const [command = ''] = args;
  return new Promise((resolve, reject) => {
    const aborted = (): TartError =>
      new TartError('aborted', `tart ${command} was ended by its caller`, { command, cause: signal?.reason });
    if (signal?.aborted === true) return reject(aborted());
    let stdout = '';
    let terminatedBy: TartError | undefined;
    let cancelKill = (): void => {};
    let cancelGrace = (): void => {};
    const tail = createOutputTail(maxTail);
    const child = deps.spawn(deps.path, args, {
      detached: true,
      env: { ...deps.environment, ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const terminate = (error: TartError): void => {
      if (terminatedBy !== undefined) return;
      terminatedBy = error;
      cancelKill = terminateGroup(child, clock, graceMs);
    };
    const onAbort = (): void => terminate(aborted());
    const timer = timeout.start(clock, () =>
      terminate(
        new TartError('timed out', `tart ${command} did not end ${timeout.description}; it was killed`, { command }),
      ),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (end: () => void): void => {
      timer.stop();
      cancelKill();
      cancelGrace();
      signal?.removeEventListener('abort', onAbort);
      end();
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      timer.progressed();
      if (stdout.length + text.length > maxOutput)
        terminate(
          new TartError('unreadable', `tart ${command} answered with more than 8 MB; it was killed`, { command }),
        );
      else stdout += text;
      options.onOutput?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      timer.progressed();
      tail.add(text);
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
    // Somebody else may hold the pipes open for as long as it likes: then its end never comes.
    child.on('exit', () => {
      cancelGrace = clock.after(graceMs, () => {
        signalGroup(child, 'SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.on('close', (code, endedBy) =>
      settle(() => {
        // Whoever was started by it, let go of the pipes and did not hear the polite signal.
        if (terminatedBy !== undefined) signalGroup(child, 'SIGKILL');
        if (code === 0 && terminatedBy?.reason !== 'unreadable') return resolve(stdout);
        if (terminatedBy !== undefined) return reject(terminatedBy);
        const output = redact(tail.text()).trim();
        const how = code === null ? `was ended by ${endedBy ?? 'a signal'}` : `failed with exit code ${code}`;
        reject(
          new TartError(
            classifyError(command, code ?? undefined, tail.text()),
            `tart ${command} ${how}${output === '' ? '' : `: ${output}`}`,
            {
              command,
              exitCode: code ?? undefined,
              signal: endedBy ?? undefined,
              tail: output,
            },
          ),
        );
      }),
    );
  });
};
