import type { Clock } from '@tartan/kube/clock';

/** Keeps us below a rate, and quiet for as long as Scaleway asked for. One for all calls with a key: Scaleway counts them together. */
export interface RateLimit {
  /** Takes the next turn: the milliseconds until it comes. */
  reserve(): number;
  /** Nobody is to send anything for that long. */
  hold(milliseconds: number): void;
  /** Milliseconds that are left of a hold. */
  heldFor(): number;
}

/** A reset further away is tried for once a minute: were it told by mistake, the pool would stand still for nothing. */
const longestHold = 60_000;

/** A bucket of tokens that holds one second's worth. */
export const createRateLimit = (clock: Clock, perSecond: number): RateLimit => {
  const interval = 1000 / perSecond;
  const burst = Math.max(1, perSecond);
  /** When the bucket is full again. Kept instead of a number of tokens, whose fractions would add up to errors. */
  let fullAt = clock.monotonic();
  let heldUntil = clock.monotonic();
  return {
    reserve: () => {
      const now = clock.monotonic();
      fullAt = Math.max(fullAt, now) + interval;
      return Math.max(0, fullAt - burst * interval - now);
    },
    hold: (milliseconds) => {
      heldUntil = Math.max(heldUntil, clock.monotonic() + Math.min(longestHold, milliseconds));
    },
    heldFor: () => Math.max(0, heldUntil - clock.monotonic()),
  };
};
