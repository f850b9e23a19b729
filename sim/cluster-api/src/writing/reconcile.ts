import { requeueAfter, isKubeError, type ReconcileResult, type Reconciler } from '@tartan/kube';

/** Somebody wrote meanwhile; soon all is seen. */
const conflictPauseMs = 100;

/** What another one wrote between our reading and writing is no failure: look again. */
export const lookingAgain =
  (reconcile: Reconciler): Reconciler =>
  async (key, signal): Promise<ReconcileResult> => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (isKubeError(error, 'conflict')) return requeueAfter(conflictPauseMs);
      throw error;
    }
  };
