import { createRequestLimiter } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';

/** Limits the request rate, and pauses when Scaleway asks for it. One for all calls with a key: Scaleway counts them together. */
export interface RateLimit {
  /** Waits for the turn of one request. Flows take turns, so a flow with one request waits for at most one request of each other flow. */
  acquire(flow: string, signal: AbortSignal): Promise<void>;
  /** Blocks all requests for that long. */
  pause(milliseconds: number): void;
  /** The remaining milliseconds of a pause. */
  pausedFor(): number;
}

/** A longer pause is probed once a minute: a wrong reset would stop the pool for nothing. */
const maxPauseMs = 60_000;

/** Only the rate is limited here: neither the number of requests in flight, nor the rate of one kind of request. */
const anyRequest = { name: 'any', method: 'any' };

/** Allows bursts of one second's requests. */
export const createRateLimit = (clock: Clock, random: Random, perSecond: number): RateLimit => {
  const limits = { qps: perSecond, burst: Math.max(1, perSecond), maxInFlight: Number.POSITIVE_INFINITY };
  const limiter = createRequestLimiter({ clock, random, ...limits });
  let pausedUntil = clock.monotonic();
  return {
    acquire: async (flow, signal) => {
      const place = await limiter
        .flow(flow)
        .acquire(anyRequest, signal)
        .catch(() => signal.throwIfAborted());
      place?.release();
    },
    pause: (milliseconds) => {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + Math.min(maxPauseMs, milliseconds));
    },
    pausedFor: () => Math.max(0, pausedUntil - clock.monotonic()),
  };
};
