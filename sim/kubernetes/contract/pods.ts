import type { Trial } from './trial.ts';

/** Path of the pods in the trial's namespace, once its default ServiceAccount exists: no Pod is admitted before. */
export const readyForPods = async (trial: Trial): Promise<string> => {
  await trial.waitFor(`${await trial.collection('serviceaccounts')}/default`, (account) => account !== undefined);
  return trial.collection('pods');
};
