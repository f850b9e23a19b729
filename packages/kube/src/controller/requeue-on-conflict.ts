import { isKubeError } from '../errors/kube-error.ts';
import { NotLeadingError } from '../leader/gate.ts';
import { type Reconciler, requeueAfter } from './reconcile.ts';

const conflictRequeueMs = 1000;
/** By then the lease is renewed, or the controller has stopped. */
const notLeadingRequeueMs = 10_000;

/**
 * Wraps a reconcile function. An optimistic lock conflict is no failure: the next reconcile reads the new state. Neither is a call
 * that the leader gate refused.
 */
export const requeueOnConflict =
  (reconcile: Reconciler): Reconciler =>
  async (key, signal) => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (isKubeError(error, 'conflict', 'alreadyExists')) return requeueAfter(conflictRequeueMs);
      if (error instanceof NotLeadingError) return requeueAfter(notLeadingRequeueMs);
      throw error;
    }
  };
