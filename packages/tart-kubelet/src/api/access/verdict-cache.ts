import type { Clock } from '@tartan/kube/clock';

/** Remembers answers of the API server for a while. Who asks while the same is being asked waits for that answer. */
export interface VerdictCache<T> {
  get(key: string, ask: () => Promise<T>): Promise<T>;
}

export interface VerdictCacheOptions<T> {
  clock: Clock;
  /** How long an answer holds. */
  lifetimeMs: (verdict: T) => number;
  /** The least recently used go first. */
  maxEntries: number;
  /** Called instead of asking when so many are being asked: strangers must not flood the API server through us. */
  maxAsking: number;
  onFull: () => Error;
}

interface Entry<T> {
  verdict: Promise<T>;
  /** On the monotonic clock; infinite while it is being asked. */
  until: number;
}

export const createVerdictCache = <T>(options: VerdictCacheOptions<T>): VerdictCache<T> => {
  const { clock, lifetimeMs, maxEntries, maxAsking, onFull } = options;
  const entries = new Map<string, Entry<T>>();
  let asking = 0;

  const ask = async (key: string, entry: Entry<T>, question: () => Promise<T>): Promise<T> => {
    asking += 1;
    try {
      const verdict = await question();
      entry.until = clock.monotonic() + lifetimeMs(verdict);
      return verdict;
    } catch (error) {
      // No answer is no verdict.
      if (entries.get(key) === entry) entries.delete(key);
      throw error;
    } finally {
      asking -= 1;
    }
  };

  return {
    get: async (key, question) => {
      const known = entries.get(key);
      if (known) entries.delete(key);
      if (known && clock.monotonic() < known.until) {
        entries.set(key, known);
        return known.verdict;
      }
      if (asking >= maxAsking) throw onFull();
      const entry: Entry<T> = { verdict: Promise.reject(new Error('not asked yet')), until: Number.POSITIVE_INFINITY };
      entry.verdict.catch(() => {});
      entry.verdict = ask(key, entry, question);
      entries.set(key, entry);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
      return entry.verdict;
    },
  };
};
