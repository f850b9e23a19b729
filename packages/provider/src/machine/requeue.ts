import { type ReconcileResult, requeueAfter } from '@tartan/kube';

/** How long the machine controller waits for what, when nothing wakes it up before. In milliseconds. */
export const intervals = {
  /** Something that only a person can mend. */
  manualFix: 5 * 60_000,
  /** A Mac to become free: changes of MacHosts wake it up as well. */
  freeHost: 60_000,
  /** Another part of this manager, which tells when it is done. */
  otherController: 30_000,
  /** After a bootstrap or a roll that failed. Often enough dialled, a Mac's SSH server stops to answer (INC-13). */
  afterFailure: 60_000,
  /** A Mac that does not answer gives its turn to another one; after this it is tried again. */
  unreachable: 5 * 60_000,
  /** Somebody else works on the Mac. */
  locked: 30_000,
  /** The agent restarts after a push, and then says what the Mac has. */
  afterPush: 60_000,
  /** All pushes that may run at a time run. */
  pushSlot: 5000,
  /** A restart. Beyond this a Mac that does not come back counts as unreachable. */
  reboot: 10 * 60_000,
  /** How long a Node may be missing before its agent is told to register again: it does that by itself at first. */
  nodeMissing: 2 * 60_000,
  /** Virtual machines to end. Nobody tells. */
  idlePoll: 15_000,
  /** A Node's Lease and its certificate, right after it has joined. */
  afterJoin: 30_000,
  /** Nothing at all. */
  resync: 5 * 60_000,
  /** Somebody else has written the machine: look at what it is now. */
  conflict: 1000,
} as const;

/** More passes than this in a row, each right after the other, lead nowhere: a claim and a bootstrap take nine. */
const maxImmediateRequeues = 20;

/** A belt for mistakes, of ours or of somebody who works against us: two decisions that undo each other must not take the whole process. */
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

export type RequeueLimiter = ReturnType<typeof createRequeueLimiter>;
