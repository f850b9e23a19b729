import { backoffMs } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';

/** A denied request stays in the cluster for an hour: at this rate, a dozen of them. */
const defaultMaxMs = 5 * 60_000;

/** Counts consecutive failures. The upper half of each delay is random, so that Macs that lost the API server together do not retry together. */
export const createBackoff = (clock: Pick<Clock, 'now'>, random: Random, maxMs = defaultMaxMs) => {
  let failures = 0;
  let retryAt = 0;
  return {
    /** 0 without a failure. */
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
