import type { Clock } from '@tartan/kube/clock';
import type { Handover } from '../guest/guests.ts';
import type { Draft } from '../journal/journal.ts';
import type { Acted } from './acted.ts';
import type { Snapshot } from './snapshot.ts';

/** What a start needs besides its disk, or why it cannot be had. */
export type Prepared =
  | (Extract<Handover, { kind: 'ready' }> & {
      readonly slots: Snapshot['slots'];
      /** What the journal will say of it. Not without a slot. */
      readonly starting?: Draft | undefined;
    })
  | Extract<Acted, { kind: 'failed' }>;

/** Starts that are made ready while their disks are cloned: neither needs the other. Memory only, and good for a moment. */
export interface Preparations {
  /** Begins, once nothing of an earlier one is under way. */
  begin(uid: string, work: () => Promise<Prepared>): void;
  /** What was begun a moment ago; else `work` does it now. Rejects as that does. */
  take(uid: string, work: () => Promise<Prepared>): Promise<Prepared>;
  /** Nobody starts it now. Resolves when nothing of it is under way: the guest's folder is nobody's then. Never rejects. */
  drop(uid: string): Promise<void>;
}

/** A clone takes a second. What is older says too little of the console session, and of what Secrets hold. */
const goodForMs = 15_000;

export const createPreparations = (clock: Pick<Clock, 'monotonic'>): Preparations => {
  const begun = new Map<string, { readonly at: number; readonly done: Promise<Prepared> }>();
  const drop = async (uid: string): Promise<void> => {
    const before = begun.get(uid);
    begun.delete(uid);
    const prepared = await before?.done.catch(() => undefined);
    if (prepared?.kind === 'ready') await prepared.starting?.discard().catch(() => {});
  };
  return {
    drop,
    begin: (uid, work) => {
      const done = drop(uid).then(work);
      // Whoever takes it hears of it.
      done.catch(() => {});
      begun.set(uid, { at: clock.monotonic(), done });
    },
    take: async (uid, work) => {
      const found = begun.get(uid);
      if (found !== undefined && clock.monotonic() - found.at <= goodForMs) {
        begun.delete(uid);
        return found.done;
      }
      await drop(uid);
      return work();
    },
  };
};
