import { isKubeError, type Live, pods, serviceAccounts } from '@tartan/kube';
import type { ServiceAccount } from '../objects.ts';
import { type Act, whileLeading } from './act.ts';

/** Deletes the ServiceAccount of a Pod that is gone. By the word of the server: the cache may not show a Pod that was just made. */
export const removeAccount = async (
  act: Act,
  { metadata: { name, namespace = '', uid, resourceVersion } }: Live<ServiceAccount>,
): Promise<void> => {
  const { client } = act.world;
  try {
    await client.get(pods, { namespace, name }, { signal: act.signal });
    return;
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
  const options = { ...whileLeading(act), preconditions: { uid, resourceVersion } };
  try {
    await client.delete(serviceAccounts, { namespace, name }, options);
  } catch (error) {
    if (!isKubeError(error, 'notFound', 'conflict')) throw error;
  }
};
