import type { ConditionUpdate } from '@tartan/kube';
import type { External } from '../contract/externals.ts';
import { conditionOf } from '../contract/external-object.ts';

interface Mirrored {
  /** What it is called on the object that it is copied to. */
  readonly type: string;
  /** What it is called on the object of the provider. */
  readonly from: 'Ready' | 'Available';
  readonly external: External;
  /** What core has concluded before: that does not go back. */
  readonly done: boolean;
  readonly deleting: boolean;
  /** Who it is that still exists, for the message. */
  readonly owner: string;
  /** The field that a provider who has no conditions sets. */
  readonly field: string;
}

/** A condition of a provider's object, copied; what core knows by itself if there is no such condition, or no such object. */
export const mirrorCondition = (mirrored: Mirrored): ConditionUpdate => {
  const { type, from, external, done, deleting, owner, field } = mirrored;
  const { kind } = external.ref;
  if (!external.object) {
    if (!done) return { type, status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
    const still = deleting ? '' : ` while the ${owner} still exists`;
    return { type, status: 'False', reason: 'ObjectDeleted', message: `${kind} has been deleted${still}` };
  }
  const theirs = conditionOf(external.object, from);
  if (theirs) {
    const { status, reason, message } = theirs;
    return { type, status, reason: reason || 'NoReasonReported', message };
  }
  return done
    ? { type, status: 'True', reason: from }
    : { type, status: 'False', reason: `Not${from}`, message: `${kind} ${field} is false` };
};
