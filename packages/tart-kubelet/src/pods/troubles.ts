import type { PodWaitReason } from '@tartan/api';
import type { Clock } from '@tartan/kube/clock';
import type { Snapshot } from './snapshot.ts';

type Trouble = NonNullable<Snapshot['trouble']>;

interface Waits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** As the kubelet for images: twice as long each time, at most 5 min. */
const usual: Waits = { firstMs: 5_000, mostMs: 5 * 60_000 };
/**
 * Somebody may be about to make what is missing: a runner's Secret is made once the Pod is bound, and comes a second later. To ask again
 * costs a request. Who has made it after an outage should not wait for minutes.
 */
const missingObject: Waits = { firstMs: 500, mostMs: 30_000 };

const waitsFor = (reason: PodWaitReason): Waits => (reason === 'CreateContainerConfigError' ? missingObject : usual);

/** What failed for each Pod, and when it may be tried again. Memory only: an agent that starts anew tries at once. */
export interface Troubles {
  of(uid: string): Trouble | undefined;
  failed(uid: string, reason: PodWaitReason, message: string): Trouble;
  forget(uid: string): void;
}

export const createTroubles = (clock: Pick<Clock, 'now'>): Troubles => {
  const troubles = new Map<string, Trouble & { readonly waitMs: number }>();
  return {
    of: (uid) => troubles.get(uid),
    failed: (uid, reason, message) => {
      const before = troubles.get(uid);
      const { firstMs, mostMs } = waitsFor(reason);
      const waitMs = Math.min(mostMs, Math.max(firstMs, (before?.waitMs ?? 0) * 2));
      const trouble = { reason, message, waitMs, retryAt: clock.now() + waitMs };
      troubles.set(uid, trouble);
      return trouble;
    },
    forget: (uid) => void troubles.delete(uid),
  };
};
