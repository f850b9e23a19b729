import { backoffMs } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';

/** Counts failures in a row, and says when the next try may be. */
export interface Backoff {
  /** 0 when nothing has failed. */
  readonly retryAt: number;
  failed(): void;
  reset(): void;
}

/** Every denied request stays in the cluster for an hour: at this pace, a dozen of them. */
const defaultMaxMs = 5 * 60_000;

/** The upper half of each wait is random: Macs that lost the API server together do not come back together. */
export const createBackoff = (clock: Pick<Clock, 'now'>, random: Random, maxMs = defaultMaxMs): Backoff => {
  let failures = 0;
  let retryAt = 0;
  return {
    get retryAt() {
      return retryAt;
    },
    failed: () => {
      failures += 1;
      const step = backoffMs({ baseMs: 1_000, maxMs }, failures);
      retryAt = clock.now() + step / 2 + (step / 2) * random();
    },
    reset: () => {
      failures = 0;
      retryAt = 0;
    },
  };
};
