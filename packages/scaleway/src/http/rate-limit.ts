import type { Clock } from '@tartan/kube/clock';

/** Keeps us below a rate, and quiet for as long as Scaleway asked for. One for all calls with a key: Scaleway counts them together. */
export interface RateLimit {
  /** Takes the next turn: the milliseconds until it comes. */
  reserve(): number;
  /** Nobody is to send anything for that long. */
  pause(milliseconds: number): void;
  /** Milliseconds that are left of a hold. */
  pausedFor(): number;
}

/** A reset further away is tried for once a minute: were it told by mistake, the pool would stand still for nothing. */
const maxPauseMs = 60_000;

/** A bucket of tokens that holds one second's worth. */
export const createRateLimit = (clock: Clock, perSecond: number): RateLimit => {
  const interval = 1000 / perSecond;
  const burst = Math.max(1, perSecond);
  /** When the bucket is full again. Kept instead of a number of tokens, whose fractions would add up to errors. */
  let fullAt = clock.monotonic();
  let pausedUntil = clock.monotonic();
  return {
    reserve: () => {
      const now = clock.monotonic();
      fullAt = Math.max(fullAt, now) + interval;
      return Math.max(0, fullAt - burst * interval - now);
    },
    pause: (milliseconds) => {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + Math.min(maxPauseMs, milliseconds));
    },
    pausedFor: () => Math.max(0, pausedUntil - clock.monotonic()),
  };
};
