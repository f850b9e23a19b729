/** How long a key waits after each failure in a row. */
export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
}

/**
 * client-go's numbers. Failures in a row: 1 → 5 ms, 2 → 10 ms, 8 → 640 ms, 12 → 10 s, 15 → 82 s, 19 and more → 1000 s (16 min 40 s).
 */
const defaultBackoff: BackoffOptions = { baseMs: 5, maxMs: 1_000_000 };

/** Counts failures per key. Remembers only keys that fail: a key that is forgotten leaves nothing behind. */
export interface Backoff {
  /** Notes one more failure and answers how long to wait for it. */
  fail(key: string): number;
  forget(key: string): void;
  failures(key: string): number;
}

export const createBackoff = ({ baseMs, maxMs }: BackoffOptions = defaultBackoff): Backoff => {
  const counts = new Map<string, number>();
  return {
    fail: (key) => {
      const before = counts.get(key) ?? 0;
      counts.set(key, before + 1);
      return Math.min(baseMs * 2 ** before, maxMs);
    },
    forget: (key) => {
      counts.delete(key);
    },
    failures: (key) => counts.get(key) ?? 0,
  };
};
