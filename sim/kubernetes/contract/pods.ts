import type { BehaviourContext } from './behaviour-context.ts';

/** Path of the Pods in the context's namespace. Waits for the default ServiceAccount: no Pod is admitted before. */
export const readyForPods = async (context: BehaviourContext): Promise<string> => {
  await context.waitFor(`${await context.collection('serviceaccounts')}/default`, (account) => account !== undefined);
  return context.collection('pods');
};
