import { createLruCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** Remembers answers of the API server for a while. Who asks while the same is being asked waits for that answer. */
export interface ReviewCache<T> {
  get(key: string, ask: () => Promise<T>): Promise<T>;
}

export interface ReviewCacheOptions<T> {
  clock: Clock;
  /** How long an answer holds. */
  ttlMs: (verdict: T) => number;
  /** The least recently used go first. */
  maxEntries: number;
  /** Called instead of asking when so many are being asked: strangers must not flood the API server through us. */
  maxInFlight: number;
  onFull: () => Error;
}

interface Entry<T> {
  readonly result: Promise<T>;
  /** On the monotonic clock; infinite while it is being asked. */
  expiresAt: number;
}

export const createReviewCache = <T>(options: ReviewCacheOptions<T>): ReviewCache<T> => {
  const { clock, ttlMs, maxEntries, maxInFlight, onFull } = options;
  const entries = createLruCache<Entry<T>>(maxEntries);
  let inFlight = 0;
  return {
    get: async (key, ask) => {
      const known = entries.get(key);
      if (known !== undefined && clock.monotonic() < known.expiresAt) return known.result;
      if (inFlight >= maxInFlight) throw onFull();
      inFlight += 1;
      const result = ask().finally(() => {
        inFlight -= 1;
      });
      const entry: Entry<T> = { result, expiresAt: Number.POSITIVE_INFINITY };
      entries.set(key, entry);
      try {
        entry.expiresAt = clock.monotonic() + ttlMs(await result);
      } catch {
        // No answer is not kept.
        entry.expiresAt = 0;
      }
      return result;
    },
  };
};
