import { again, isKubeError, type Outcome, type Reconcile } from '@tartan/kube';

/** Somebody wrote meanwhile; soon all is seen. */
const conflictPauseMs = 100;

/** What another one wrote between our reading and writing is no failure: look again. */
export const lookingAgain =
  (reconcile: Reconcile): Reconcile =>
  async (key, signal): Promise<Outcome> => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (isKubeError(error, 'conflict')) return again(conflictPauseMs);
      throw error;
    }
  };
