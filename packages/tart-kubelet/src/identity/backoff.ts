import { backoffMs } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';

/** Every denied request stays in the cluster for an hour: at this pace, a dozen of them. */
const defaultMaxMs = 5 * 60_000;

/** Counts failures in a row. The upper half of each wait is random: Macs that lost the API server together do not come back together. */
export const createBackoff = (clock: Pick<Clock, 'now'>, random: Random, maxMs = defaultMaxMs) => {
  let failures = 0;
  let retryAt = 0;
  return {
    /** 0 when nothing has failed. */
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
