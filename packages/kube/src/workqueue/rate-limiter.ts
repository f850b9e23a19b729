import type { Clock } from '../clock/clock.ts';

export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
}

/** client-go's defaults. Consecutive failures: 1 → 5 ms, 2 → 10 ms, 8 → 640 ms, 12 → 10 s, 15 → 82 s, 19 and more → 1000 s (16 min 40 s). */
export const defaultBackoff: BackoffOptions = { baseMs: 5, maxMs: 1_000_000 };

/** The delay after that many consecutive failures: doubles with each. */
export const backoffMs = ({ baseMs, maxMs }: BackoffOptions, failures: number): number =>
  Math.min(baseMs * 2 ** Math.max(0, failures - 1), maxMs);

export interface TokenBucketOptions {
  /** New tokens per second. */
  perSecond: number;
  /** Maximum number of tokens. */
  burst: number;
}

/** client-go's defaults: 100 retries at once, then 10 per second, over all keys of a queue. */
const defaultLimiter: TokenBucketOptions = { perSecond: 10, burst: 100 };

export interface TokenBucket {
  /** Takes a token, even a future one: returns in how many milliseconds it will be available. */
  reserve(): number;
  /** Takes a token if one is available. */
  allow(): boolean;
}

export const createTokenBucket = (
  clock: Clock,
  { perSecond, burst }: TokenBucketOptions = defaultLimiter,
): TokenBucket => {
  const interval = 1000 / perSecond;
  /** When the bucket will be full. A token count would accumulate rounding errors. */
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
