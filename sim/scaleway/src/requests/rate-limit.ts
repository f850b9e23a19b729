import type { Clock } from '@tartan/kube/clock';

/** Counts requests in windows of a second. */
export interface RateLimit {
  /** Counts one. When it was one too many: in how many milliseconds the next window begins. */
  count(): number | undefined;
}

const window = 1000;

export const createRateLimit = (clock: Clock, quota: number | undefined): RateLimit => {
  let began = Number.NEGATIVE_INFINITY;
  let seen = 0;
  return {
    count: () => {
      if (quota === undefined) return undefined;
      const now = clock.monotonic();
      if (now - began >= window) {
        began = now;
        seen = 0;
      }
      seen += 1;
      return seen > quota ? began + window - now : undefined;
    },
  };
};
