import type { PodWaitReason } from '@tartan/api';
import type { Clock } from '@tartan/kube/clock';
import type { Snapshot } from './snapshot.ts';

type Trouble = NonNullable<Snapshot['trouble']>;

/** As the kubelet for images: twice as long each time, at most 5 min. */
const firstMs = 5_000;
const mostMs = 5 * 60_000;

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
      const waitMs = Math.min(mostMs, before === undefined ? firstMs : before.waitMs * 2);
      const trouble = { reason, message, waitMs, retryAt: clock.now() + waitMs };
      troubles.set(uid, trouble);
      return trouble;
    },
    forget: (uid) => void troubles.delete(uid),
  };
};
