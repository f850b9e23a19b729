import type { PodWaitReason } from '@tartan/api';
import type { Clock } from '@tartan/kube/clock';
import type { Snapshot } from './snapshot.ts';

type LastFailure = NonNullable<Snapshot['lastFailure']>;

interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** As the kubelet for images: twice as long each time, at most 5 min. */
const defaultLimits: BackoffLimits = { initialMs: 5_000, maxMs: 5 * 60_000 };
/**
 * Somebody may be about to make what is missing: a runner's Secret is made once the Pod is bound, and comes a second later. To ask again
 * costs a request. Who has made it after an outage should not wait for minutes.
 */
const missingObjectLimits: BackoffLimits = { initialMs: 500, maxMs: 30_000 };

const limitsFor = (reason: PodWaitReason): BackoffLimits =>
  reason === 'CreateContainerConfigError' ? missingObjectLimits : defaultLimits;

/** What failed for each Pod, and when it may be tried again. Memory only: an agent that starts anew tries at once. */
export interface FailureBackoff {
  get(uid: string): LastFailure | undefined;
  recordFailure(uid: string, reason: PodWaitReason, message: string): LastFailure;
  reset(uid: string): void;
}

export const createFailureBackoff = (clock: Pick<Clock, 'now'>): FailureBackoff => {
  const failures = new Map<string, LastFailure & { readonly waitMs: number }>();
  return {
    get: (uid) => failures.get(uid),
    recordFailure: (uid, reason, message) => {
      const before = failures.get(uid);
      const { initialMs, maxMs } = limitsFor(reason);
      const waitMs = Math.min(maxMs, Math.max(initialMs, (before?.waitMs ?? 0) * 2));
      const failure = { reason, message, waitMs, retryAt: clock.now() + waitMs };
      failures.set(uid, failure);
      return failure;
    },
    reset: (uid) => void failures.delete(uid),
  };
};
