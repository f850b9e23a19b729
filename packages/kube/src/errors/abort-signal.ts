import { isKubeError, KubeError } from './kube-error.ts';

/**
 * The abort reason as a KubeError. A KubeError as reason (a deadline uses `timeout`) is returned as it is; any other reason
 * becomes `aborted`.
 */
export const abortError = (signal: AbortSignal): KubeError => {
  const reason: unknown = signal.reason;
  return isKubeError(reason) ? reason : new KubeError('aborted', 'The call was ended by its caller', { cause: reason });
};

/**
 * Settles with `work`, or rejects when the signal fires first, even if `work` ignores the signal. A later failure of
 * `work` is ignored.
 */
export const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(abortError(signal));
    if (signal.aborted) {
      abort();
      work.catch(() => {});
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** Yields `chunks` until the signal fires, even if `chunks` ignores it. An early return also closes `chunks`. */
export const iterateUntilAborted = <T>(signal: AbortSignal, chunks: AsyncIterable<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = chunks[Symbol.asyncIterator]();
    return {
      next: () => unlessAborted(signal, iterator.next()),
      return: async () => {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    };
  },
});

/** Resolves when the signal fires. The listener stays until then, so use it only for signals that do not outlive the caller. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
