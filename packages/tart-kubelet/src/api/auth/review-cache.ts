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
  result: Promise<T>;
  /** On the monotonic clock; infinite while it is being asked. */
  expiresAt: number;
}

export const createReviewCache = <T>(options: ReviewCacheOptions<T>): ReviewCache<T> => {
  const { clock, ttlMs, maxEntries, maxInFlight, onFull } = options;
  const entries = new Map<string, Entry<T>>();
  let inFlight = 0;

  const loadEntry = async (key: string, entry: Entry<T>, load: () => Promise<T>): Promise<T> => {
    inFlight += 1;
    try {
      const verdict = await load();
      entry.expiresAt = clock.monotonic() + ttlMs(verdict);
      return verdict;
    } catch (error) {
      // No answer is no verdict.
      if (entries.get(key) === entry) entries.delete(key);
      throw error;
    } finally {
      inFlight -= 1;
    }
  };

  return {
    get: async (key, question) => {
      const known = entries.get(key);
      if (known) entries.delete(key);
      if (known && clock.monotonic() < known.expiresAt) {
        entries.set(key, known);
        return known.result;
      }
      if (inFlight >= maxInFlight) throw onFull();
      const entry: Entry<T> = {
        result: Promise.reject(new Error('not asked yet')),
        expiresAt: Number.POSITIVE_INFINITY,
      };
      entry.result.catch(() => {});
      entry.result = loadEntry(key, entry, question);
      entries.set(key, entry);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
      return entry.result;
    },
  };
};
