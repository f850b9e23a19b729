import { isKubeError, pods, serviceAccounts } from '@tartan/kube';
import { accountOf, podOf } from '../pod-template.ts';
import { newRunnerName } from '../runner-name.ts';
import { type Act, whileLeading } from './act.ts';

/**
 * A ServiceAccount, then a Pod of its name. What a crash leaves between the two is an account without a Pod, which goes. A Pod of which
 * nobody knows whether it was made is looked for before the next one is.
 */
export const createRunner = async (act: Act): Promise<void> => {
  const { world, memory } = act;
  const { pool, pods: overlay } = memory;
  const name = newRunnerName(pool.metadata.name, world.randomBytes);
  await world.client.create(serviceAccounts, accountOf(pool, name), whileLeading(act));
  overlay.making(name);
  try {
    overlay.made(await world.client.create(pods, podOf(pool, name), whileLeading(act)));
  } catch (error) {
    if (!mayHaveHappened(error)) overlay.notMade(name);
    throw error;
  }
  world.log.info('Made a runner Pod', { namespace: pool.metadata.namespace, pool: pool.metadata.name, name });
};

/** Everything but a clear no. */
const mayHaveHappened = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'malformed', 'aborted');
