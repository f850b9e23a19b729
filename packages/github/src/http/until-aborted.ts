/** What is waited for together with others, left alone as soon as `signal` fires. Rejects with its reason then. */
export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: left.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    left.abort();
  }
};
