import type { Trial } from './trial.ts';

/** Path of the Pods in the trial's namespace. Waits for the default ServiceAccount: no Pod is admitted before. */
export const readyForPods = async (trial: Trial): Promise<string> => {
  await trial.waitFor(`${await trial.collection('serviceaccounts')}/default`, (account) => account !== undefined);
  return trial.collection('pods');
};
