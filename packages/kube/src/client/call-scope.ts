import type { Clock } from '../clock/clock.ts';
import { unlessAborted } from '../errors/abort-signal.ts';
import { KubeError } from '../errors/kube-error.ts';

/** Aborts a call when the caller's signal fires (`aborted`) or at its deadline (`timeout`). */
export interface CallScope {
  readonly signal: AbortSignal;
  /** Until the deadline. */
  remainingMs(): number;
  /** The reason at the deadline. By default a timeout, after which the server may have executed the request. */
  expireWith: KubeError | undefined;
  /** Only the caller's signal applies from now on. */
  clearDeadline(): void;
  /** Cancels the timer and removes the listener on the caller's signal. */
  close(): void;
}

interface CallScopeOptions {
  clock: Clock;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** For messages: `get pods default/a`. */
  what: string;
}

export const openCallScope = ({ clock, deadlineMs, signal, what }: CallScopeOptions): CallScope => {
  const controller = new AbortController();
  const abort = (): void =>
    controller.abort(new KubeError('aborted', `Cannot ${what}: ended by its caller`, { cause: signal?.reason }));
  const expire = (): void => {
    const text = `Cannot ${what}: no answer within ${deadlineMs / 1000} s. It may have been carried out`;
    controller.abort(scope.expireWith ?? new KubeError('timeout', text));
  };
  const clearDeadline = clock.after(deadlineMs, expire);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  const deadline = clock.monotonic() + deadlineMs;
  const scope: CallScope = {
    signal: controller.signal,
    remainingMs: () => deadline - clock.monotonic(),
    expireWith: undefined,
    clearDeadline,
    close: () => {
      clearDeadline();
      signal?.removeEventListener('abort', abort);
    },
  };
  return scope;
};

/** Runs `work` with a scope of its own. Settles when that signal fires even if `work` ignores it. */
export const withCallScope = async <T>(
  options: CallScopeOptions,
  work: (scope: CallScope) => Promise<T>,
): Promise<T> => {
  const scope = openCallScope(options);
  try {
    scope.signal.throwIfAborted();
    return await unlessAborted(scope.signal, work(scope));
  } finally {
    scope.close();
  }
};
