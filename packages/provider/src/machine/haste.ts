import { again, type Outcome } from '@tartan/kube';
import { waits } from './waits.ts';

/** More passes than this in a row, each right after the other, lead nowhere: a claim and a bootstrap take nine. */
const mostInARow = 20;

/** A belt for mistakes, of ours or of somebody who works against us: two decisions that undo each other must not take the whole process. */
export interface Haste {
  temper(uid: string, next: Outcome): Outcome;
}

export const createHaste = (): Haste => {
  const inARow = new Map<string, number>();
  return {
    temper: (uid, next) => {
      const atOnce = next.kind === 'again' && next.afterMs === 0;
      if (!atOnce) {
        inARow.delete(uid);
        return next;
      }
      const count = (inARow.get(uid) ?? 0) + 1;
      inARow.set(uid, count);
      return count > mostInARow ? again(waits.conflict) : next;
    },
  };
};
