import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Clock } from '@tartan/kube/clock';
import { classify } from './classify.ts';
import { createOutputTail } from './output-tail.ts';
import type { Patience } from './patience.ts';
import { endGroup, signalGroup } from './process-group.ts';
import type { Redact } from './redact.ts';
import { TartError, type TartReason } from './tart-error.ts';

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** What a call needs of the world. */
export interface Caller {
  readonly path: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly spawn: Spawn;
}

export interface CallOptions {
  readonly patience: Patience;
  readonly signal?: AbortSignal | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** The process is there. */
  readonly onStart?: (() => void) | undefined;
  readonly onOutput?: (text: string) => void;
  readonly redact: Redact;
}

/** From the polite signal to the other one, and from the end of a call to the end of waiting for those who hold its pipes. */
const graceMs = 2000;
const tailCap = 4096;
/** A list of a thousand virtual machines is a quarter of a megabyte. */
const outputCap = 8 * 1024 * 1024;

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
export const callTart = (caller: Caller, args: readonly string[], options: CallOptions): Promise<string> => {
  const { clock } = caller;
  const { patience, signal, redact } = options;
  const [command = ''] = args;
  return new Promise((resolve, reject) => {
    const aborted = (): TartError =>
      new TartError('aborted', `tart ${command} was ended by its caller`, { command, cause: signal?.reason });
    if (signal?.aborted === true) return reject(aborted());
    let stdout = '';
    let cutShort: TartError | undefined;
    let takeBackKill = (): void => {};
    let takeBackGrace = (): void => {};
    const tail = createOutputTail(tailCap);
    const child = caller.spawn(caller.path, args, {
      detached: true,
      env: { ...caller.environment, ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    options.onStart?.();
    const cut = (error: TartError): void => {
      if (cutShort !== undefined) return;
      cutShort = error;
      takeBackKill = endGroup(child, clock, graceMs);
    };
    const onAbort = (): void => cut(aborted());
    const counting = patience.start(clock, () =>
      cut(new TartError('timed out', `tart ${command} did not end ${patience.text}; it was killed`, { command })),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (end: () => void): void => {
      counting.end();
      takeBackKill();
      takeBackGrace();
      signal?.removeEventListener('abort', onAbort);
      end();
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      counting.moved();
      if (stdout.length + text.length > outputCap)
        cut(new TartError('unreadable', `tart ${command} answered with more than 8 MB; it was killed`, { command }));
      else stdout += text;
      options.onOutput?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      counting.moved();
      tail.add(text);
    });
    child.on('error', (cause) =>
      settle(() =>
        reject(
          new TartError(
            reasonFor(cause),
            `tart could not be started: ${cause.message}. Is it installed at ${caller.path}?`,
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
      takeBackGrace = clock.after(graceMs, () => {
        signalGroup(child, 'SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.on('close', (code, endedBy) =>
      settle(() => {
        // Whoever was started by it, let go of the pipes and did not hear the polite signal.
        if (cutShort !== undefined) signalGroup(child, 'SIGKILL');
        if (code === 0 && cutShort?.reason !== 'unreadable') return resolve(stdout);
        if (cutShort !== undefined) return reject(cutShort);
        const said = redact(tail.text()).trim();
        const how = code === null ? `was ended by ${endedBy ?? 'a signal'}` : `failed with exit code ${code}`;
        reject(
          new TartError(
            classify(command, code ?? undefined, tail.text()),
            `tart ${command} ${how}${said === '' ? '' : `: ${said}`}`,
            {
              command,
              exitCode: code ?? undefined,
              signal: endedBy ?? undefined,
              tail: said,
            },
          ),
        );
      }),
    );
  });
};
