import type { Clock } from '../clock/clock.ts';

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
interface Backoff {
  /** Notes one more failure and answers how long to wait for it. */
  fail(key: string): number;
  forget(key: string): void;
  failures(key: string): number;
}

export const createExponentialBackoff = ({ baseMs, maxMs }: BackoffOptions = defaultBackoff): Backoff => {
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

export interface TokenBucketOptions {
  /** New tokens per second. */
  perSecond: number;
  /** How many tokens there are at most. */
  burst: number;
}

/** client-go's numbers: 100 retries at once, 10 a second after that, over all keys of a queue. */
const defaultLimiter: TokenBucketOptions = { perSecond: 10, burst: 100 };

/** A token that does not exist yet can be reserved: the answer says in how many milliseconds it will. */
interface TokenBucket {
  reserve(): number;
}

export const createTokenBucket = (
  clock: Clock,
  { perSecond, burst }: TokenBucketOptions = defaultLimiter,
): TokenBucket => {
  const interval = 1000 / perSecond;
  /** When the bucket is full again. Kept instead of a number of tokens, whose fractions would add up to errors. */
  let fullAt = clock.monotonic();
  return {
    reserve: () => {
      const now = clock.monotonic();
      fullAt = Math.max(fullAt, now) + interval;
      return Math.max(0, fullAt - burst * interval - now);
    },
  };
};
