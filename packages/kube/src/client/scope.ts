import type { Clock } from '../clock/clock.ts';
import { unlessAborted } from '../errors/aborted.ts';
import { KubeError } from '../errors/kube-error.ts';

/** Ends a call for its caller's signal (`aborted`) or for its deadline (`timeout`). */
export interface Scope {
  readonly signal: AbortSignal;
  /** From now on only the caller's signal counts. */
  liftDeadline(): void;
  /** Lets go of the clock and of the caller's signal. */
  close(): void;
}

export interface ScopeOptions {
  clock: Clock;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** For the text: `get pods default/a`. */
  what: string;
}

export const openScope = ({ clock, deadlineMs, signal, what }: ScopeOptions): Scope => {
  const controller = new AbortController();
  const abort = (): void =>
    controller.abort(new KubeError('aborted', `Cannot ${what}: ended by its caller`, { cause: signal?.reason }));
  const expire = (): void => {
    const text = `Cannot ${what}: no answer within ${deadlineMs / 1000} s. It may have been carried out`;
    controller.abort(new KubeError('timeout', text));
  };
  const liftDeadline = clock.after(deadlineMs, expire);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return {
    signal: controller.signal,
    liftDeadline,
    close: () => {
      liftDeadline();
      signal?.removeEventListener('abort', abort);
    },
  };
};

/** Runs `work` in a scope of its own; ends with it even if `work` does not care for its signal. */
export const inScope = async <T>(options: ScopeOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const scope = openScope(options);
  try {
    scope.signal.throwIfAborted();
    return await unlessAborted(scope.signal, work(scope.signal));
  } finally {
    scope.close();
  }
};
