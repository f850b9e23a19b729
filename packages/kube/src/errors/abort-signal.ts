import { isKubeError, KubeError } from './kube-error.ts';

/**
 * Why a signal fired, as an error of this package. Whoever aborts with a KubeError (a deadline does, with `timeout`) decides what
 * the caller reads; any other reason reads `aborted`.
 */
export const abortError = (signal: AbortSignal): KubeError => {
  const reason: unknown = signal.reason;
  return isKubeError(reason) ? reason : new KubeError('aborted', 'The call was ended by its caller', { cause: reason });
};

/** `work`, unless the signal fires first: also when `work` does not care for the signal. Its late failure goes unheard. */
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

/** `chunks` until the signal fires, also when they do not care for it. Leaving leaves `chunks`. */
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

/** Resolves once the signal has fired. For signals that live no longer than whoever waits: the listener stays until then. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
