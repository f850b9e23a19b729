import { createTokenBucket } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** Limits the request rate, and pauses when Scaleway asks for it. One for all calls with a key: Scaleway counts them together. */
export interface RateLimit {
  /** Takes a token: the milliseconds until it may be used. */
  reserve(): number;
  /** Blocks all requests for that long. */
  pause(milliseconds: number): void;
  /** The remaining milliseconds of a pause. */
  pausedFor(): number;
}

/** A longer pause is probed once a minute: a wrong reset would stop the pool for nothing. */
const maxPauseMs = 60_000;

/** Allows bursts of one second's requests. */
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
