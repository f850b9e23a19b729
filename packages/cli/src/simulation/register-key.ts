import { secretKeys, secretNames } from '@tartan/api';
import { newKeyPair } from '@tartan/host';
import { type Client, isKubeError, secrets } from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import { fleetNamespace as namespace } from './control-plane.ts';

/**
 * The SSH key of a fleet, in the Secret where its provider looks for it, and registered. Macs get to know keys when they are installed
 * and never later, so this comes before they are ordered, as it does with a pool that has been in use.
 */
export const registerKey = async (client: Client, pool: Pick<HostPool, 'createKey'>, fleet: string): Promise<void> => {
  const { publicKey, privateKey } = newKeyPair(fleet);
  const { fleetSSH } = secretKeys;
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: secretNames.fleetSSH(fleet) },
    stringData: { [fleetSSH.privateKey]: privateKey, [fleetSSH.publicKey]: publicKey },
  });
  await pool.createKey(fleet, publicKey);
};

/** The same, unless an earlier start has done it. */
export const ensureKey = async (client: Client, pool: Pick<HostPool, 'createKey'>, fleet: string): Promise<void> => {
  try {
    await client.get(secrets, { namespace, name: secretNames.fleetSSH(fleet) });
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    await registerKey(client, pool, fleet);
  }
};
