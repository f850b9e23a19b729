import { sleep, systemClock } from '@tartan/kube/clock';

/** Far more than a busy machine needs, and less than the timeout of a test. */
const limitMs = 60_000;
export const testTimeoutMs = 3 * limitMs;

/** The result of `work`, or a timeout error that says what was waited for. */
export const within = async <T>(work: Promise<T>, what: () => string): Promise<T> => {
  const over = new AbortController();
  const late = sleep(systemClock, limitMs, over.signal).then(() => {
    if (!over.signal.aborted) throw new Error(`Waited ${limitMs / 1000} s for ${what()}`);
  });
  try {
    return await Promise.race([work, late.then(() => work)]);
  } finally {
    over.abort();
  }
};
