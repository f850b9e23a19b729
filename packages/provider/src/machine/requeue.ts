import { isNewerResourceVersion, type ReconcileResult, requeueAfter } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';

/** How long the machine controller waits for what, if nothing triggers before. In milliseconds. */
export const intervals = {
  /** Something that only a user can fix. */
  manualFix: 5 * 60_000,
  /** Something that does not trigger: Scaleway, GitHub, a MacHost that the inventory creates again. */
  poll: 30_000,
  /** After a failed bootstrap or roll. If dialled too often, a Mac's SSH server stops answering (INC-13). */
  afterFailure: 60_000,
  /** An unreachable Mac loses its turn to another one; it is retried after this. */
  unreachable: 5 * 60_000,
  /** Another manager works on the Mac. */
  locked: 30_000,
  /** The agent restarts after a push, and then reports its state. */
  afterPush: 60_000,
  /** A restart. A Mac that takes longer counts as unreachable. */
  reboot: 10 * 60_000,
  /** How long a Node may be missing before its agent is made to register again: it tries that itself first. */
  nodeMissing: 2 * 60_000,
  /** Virtual machines to end. Nothing triggers. */
  idlePoll: 15_000,
  /** The Lease and the certificate of a Node that has just joined. */
  afterJoin: 30_000,
  /** The regular resync. Also of machines that wait for what triggers: a free Mac, a push slot, another controller of this manager. */
  resync: 5 * 60_000,
  /** After a conflict: read the machine again. */
  conflict: 1000,
} as const;

/** More immediate requeues in a row than this lead nowhere: a claim and a bootstrap take nine. */
const maxImmediateRequeues = 20;

/** Protects from hot loops: two decisions that undo each other, by a bug or an attack, must not use up the process. */
export const createRequeueLimiter = () => {
  const immediateRequeues = new Map<string, number>();
  return {
    limit: (uid: string, next: ReconcileResult): ReconcileResult => {
      const immediate = next.kind === 'requeueAfter' && next.afterMs === 0;
      if (!immediate) {
        immediateRequeues.delete(uid);
        return next;
      }
      const count = (immediateRequeues.get(uid) ?? 0) + 1;
      immediateRequeues.set(uid, count);
      return count > maxImmediateRequeues ? requeueAfter(intervals.conflict) : next;
    },
    forget: (uid: string): unknown => immediateRequeues.delete(uid),
  };
};

/**
 * The version in which a pass has last read or written each machine. Its own writes do not trigger a pass, so a pass that decided by an
 * older one from the cache would miss them.
 */
export const createSeenVersions = () => {
  const versions = new Map<string, string>();
  return {
    record: ({ metadata }: Machine): unknown => versions.set(metadata.uid, metadata.resourceVersion),
    isOutdated: ({ metadata }: Machine): boolean => {
      const seen = versions.get(metadata.uid);
      return seen !== undefined && isNewerResourceVersion(seen, metadata.resourceVersion);
    },
    forget: (uid: string): unknown => versions.delete(uid),
  };
};
