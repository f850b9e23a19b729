import type { Clock } from '../clock/clock.ts';

export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
}

/**
 * client-go's numbers. Failures in a row: 1 → 5 ms, 2 → 10 ms, 8 → 640 ms, 12 → 10 s, 15 → 82 s, 19 and more → 1000 s (16 min 40 s).
 */
export const defaultBackoff: BackoffOptions = { baseMs: 5, maxMs: 1_000_000 };

/** The wait after that many failures in a row: doubles with each of them. */
export const backoffMs = ({ baseMs, maxMs }: BackoffOptions, failures: number): number =>
  Math.min(baseMs * 2 ** Math.max(0, failures - 1), maxMs);

export interface TokenBucketOptions {
  /** New tokens per second. */
  perSecond: number;
  /** How many tokens there are at most. */
  burst: number;
}

/** client-go's numbers: 100 retries at once, 10 a second after that, over all keys of a queue. */
const defaultLimiter: TokenBucketOptions = { perSecond: 10, burst: 100 };

export interface TokenBucket {
  /** Takes a token, also one that does not exist yet: answers in how many milliseconds it will. */
  reserve(): number;
  /** Takes a token if there is one. */
  allow(): boolean;
}

export const createTokenBucket = (
  clock: Clock,
  { perSecond, burst }: TokenBucketOptions = defaultLimiter,
): TokenBucket => {
  const interval = 1000 / perSecond;
  /** When the bucket is full again. Kept instead of a number of tokens, whose fractions would add up to errors. */
  let fullAt = clock.monotonic();
  const waitFor = (next: number): number => Math.max(0, next - burst * interval - clock.monotonic());
  const next = (): number => Math.max(fullAt, clock.monotonic()) + interval;
  return {
    reserve: () => {
      fullAt = next();
      return waitFor(fullAt);
    },
    allow: () => {
      const then = next();
      if (waitFor(then) > 0) return false;
      fullAt = then;
      return true;
    },
  };
};
