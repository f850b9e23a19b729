import { createLruCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { HttpError } from '../http-response.ts';

/** Unauthenticated clients must not flood the API server through us. */
const maxInFlight = 32;

interface Entry<T> {
  readonly result: Promise<T>;
  /** Monotonic clock; infinite while the review is in flight. */
  expiresAt: number;
}

/**
 * Caches the API server's reviews for `ttlMs`, with LRU eviction. Concurrent calls share a review. Rejects with HttpError 503 when
 * too many are in flight.
 */
export const createReviewCache = <T>(clock: Clock, maxEntries: number, ttlMs: (verdict: T) => number) => {
  const entries = createLruCache<Entry<T>>(maxEntries);
  let inFlight = 0;
  return async (key: string, review: () => Promise<T>): Promise<T> => {
    const known = entries.get(key);
    if (known !== undefined && clock.monotonic() < known.expiresAt) return known.result;
    if (inFlight >= maxInFlight) throw new HttpError(503, 'Too many requests are being checked at once: try again');
    inFlight += 1;
    const result = review().finally(() => {
      inFlight -= 1;
    });
    const entry: Entry<T> = { result, expiresAt: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    try {
      entry.expiresAt = clock.monotonic() + ttlMs(await result);
    } catch {
      // Failures are not cached.
      entry.expiresAt = 0;
    }
    return result;
  };
};
