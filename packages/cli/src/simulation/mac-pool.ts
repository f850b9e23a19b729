import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { secretKeys, secretNames, serverNames } from '@tartan/api';
import { newKeyPair } from '@tartan/host';
import { type Client, isKubeError, secrets } from '@tartan/kube';
import { createHostPool, type HostPool } from '@tartan/scaleway';
import { startMac } from '@tartan/sim-mac';
import { type SimulatedScaleway, type SimulatedServer, startScaleway } from '@tartan/sim-scaleway';
import { fleetNamespace as namespace } from './control-plane.ts';

const zone = 'fr-par-1';

/** What a provider needs to know to rent here. Nothing in it is secret: this Scaleway is on this machine, and ends with it. */
const credentials = {
  accessKey: 'SCWTARTANSIMULATED00',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;

/** All Macs have this machine's address, so each agent serves on a port of its own. */
const sharedHostEnvironment = { TART_KUBELET_NODE_IP: '127.0.0.1', TART_KUBELET_PORT: '0' } as const;

export interface MacPool {
  readonly scaleway: SimulatedScaleway;
  /** Scaleway as the provider knows it. */
  readonly pool: HostPool;
  /** For a provider that runs as a process of its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Rents Macs and puts them into the pool. They know the SSH keys that are registered by now, and get to know no others. */
  order(count: number): Promise<readonly SimulatedServer[]>;
  stop(): Promise<void>;
}

/** A simulated Scaleway, whose servers are simulated Macs. */
export const startMacPool = async (options: {
  folder: string;
  /** Servers, keys and disks of an earlier start in that folder go on. */
  persistent?: boolean;
  /** 1 is as slow as real ones. Of Macs; and of Scaleway, which takes 10 min to reinstall one. */
  pace: number;
  scalewayPace?: number;
  /** For every process on the Macs, beside what they need to share this machine. */
  environment?: Readonly<Record<string, string>>;
}): Promise<MacPool> => {
  const { folder, pace, scalewayPace = pace, persistent = false, environment = {} } = options;
  const scaleway = await startScaleway({
    ...credentials,
    pace: scalewayPace,
    ...(persistent && { data: folder }),
    startMac: ({ id, password, authorizedKeys, port }) =>
      startMac({
        folder: join(folder, id),
        pace,
        user: { password },
        authorizedKeys,
        environment: { ...sharedHostEnvironment, ...environment },
        ...(port !== undefined && { port }),
      }),
  });
  const orderOne = (): Promise<SimulatedServer> =>
    scaleway.order({ zone, name: `${serverNames.defaultPoolPrefix}${randomBytes(4).toString('hex')}` });
  return {
    scaleway,
    pool: createHostPool({ ...credentials, apiURL: scaleway.url, rate: 1000 }),
    environment: {
      SCW_ACCESS_KEY: credentials.accessKey,
      SCW_SECRET_KEY: credentials.secretKey,
      SCW_DEFAULT_PROJECT_ID: credentials.projectID,
      SCW_API_URL: scaleway.url,
    },
    order: (count) => Promise.all(Array.from({ length: count }, orderOne)),
    stop: () => scaleway.stop(),
  };
};

/**
 * The SSH key of a fleet, in the Secret where its provider looks for it, and registered. Macs get to know keys when they are installed
 * and never later, so this comes before they are ordered, as it does with a pool that has been in use.
 */
export const registerSSHKey = async (
  client: Client,
  pool: Pick<HostPool, 'createKey'>,
  fleet: string,
): Promise<void> => {
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
export const ensureSSHKey = async (client: Client, pool: Pick<HostPool, 'createKey'>, fleet: string): Promise<void> => {
  try {
    await client.get(secrets, { namespace, name: secretNames.fleetSSH(fleet) });
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    await registerSSHKey(client, pool, fleet);
  }
};
