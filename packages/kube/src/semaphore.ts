/** Runs at most `limit` functions at a time, in order of arrival. A function whose signal is aborted while it waits is never started. */
type Semaphore = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export const createSemaphore = (limit: number): Semaphore => {
  let busy = 0;
  const waiters: (() => void)[] = [];
  const acquire = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiters.splice(waiters.indexOf(enter), 1);
        reject(signal?.reason);
      };
      const enter = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      waiters.push(enter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  return async (work, signal) => {
    signal?.throwIfAborted();
    // A released slot goes directly to the next waiter, so `busy` stays unchanged.
    if (busy >= limit) await acquire(signal);
    else busy += 1;
    try {
      return await work();
    } finally {
      const next = waiters.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
};
