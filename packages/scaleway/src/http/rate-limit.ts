import { createTokenBucket } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** Keeps us below a rate, and quiet for as long as Scaleway asked for. One for all calls with a key: Scaleway counts them together. */
export interface RateLimit {
  /** Takes a token: the milliseconds until it may be used. */
  reserve(): number;
  /** Nobody is to send anything for that long. */
  pause(milliseconds: number): void;
  /** Milliseconds that are left of a pause. */
  pausedFor(): number;
}

/** A reset further away is tried for once a minute: were it told by mistake, the pool would stand still for nothing. */
const maxPauseMs = 60_000;

/** One second's worth of requests may go at once. */
export const createRateLimit = (clock: Clock, perSecond: number): RateLimit => {
  const { reserve } = createTokenBucket(clock, { perSecond, burst: Math.max(1, perSecond) });
  let pausedUntil = clock.monotonic();
  return {
    reserve,
    pause: (milliseconds) => {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + Math.min(maxPauseMs, milliseconds));
    },
    pausedFor: () => Math.max(0, pausedUntil - clock.monotonic()),
  };
};
