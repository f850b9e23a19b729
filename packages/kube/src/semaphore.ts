/** Runs at most `limit` works at a time, in order of arrival. A work whose signal is aborted while it waits is never started. */
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
    // A place that is given back goes straight to the next in line, so `busy` stays.
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
