import type { Clock } from '../clock/clock.ts';

export interface TokenBucketOptions {
  /** New tokens per second. */
  perSecond: number;
  /** How many tokens there are at most. */
  burst: number;
}

/** client-go's numbers: 100 retries at once, 10 a second after that, over all keys of a queue. */
const defaultLimiter: TokenBucketOptions = { perSecond: 10, burst: 100 };

/** A token that does not exist yet can be reserved: the answer says in how many milliseconds it will. */
export interface TokenBucket {
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
