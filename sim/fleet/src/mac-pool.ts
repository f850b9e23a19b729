import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { secretKeys, secretNames, serverNames } from '@tartan/api';
import { newKeyPair } from '@tartan/host';
import { type Client, ignoreNotFound, secrets } from '@tartan/kube';
import { createHostPool, type HostPool } from '@tartan/scaleway';
import { startMac } from '@tartan/sim-mac';
import { type SimulatedScaleway, type SimulatedServer, startScaleway } from '@tartan/sim-scaleway';
import { fleetNamespace as namespace } from './control-plane.ts';

const zone = 'fr-par-1';

/** Credentials of the simulated Scaleway. Not secret. */
const credentials = {
  accessKey: 'SCWTARTANSIMULATED00',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;

/** All Macs share the address of this machine, so each agent has its own port. */
const sharedHostEnvironment = { TART_KUBELET_NODE_IP: '127.0.0.1', TART_KUBELET_PORT: '0' } as const;

export interface MacPool {
  readonly scaleway: SimulatedScaleway;
  /** The Scaleway client of the provider. */
  readonly pool: HostPool;
  /** For the provider process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Orders Macs for the pool. They accept only SSH keys that are registered already. */
  order(count: number): Promise<readonly SimulatedServer[]>;
  stop(): Promise<void>;
}

/** A simulated Scaleway, whose servers are simulated Macs. */
export const startMacPool = async (options: {
  folder: string;
  /** Continues with servers, keys and disks of an earlier start in that folder. */
  persistent?: boolean;
  /** False: servers are only records, and nobody answers at their addresses. Default: true. */
  reachable?: boolean;
  /** 1: as slow as real Macs. */
  pace: number;
  scalewayPace?: number;
  /** Additional environment of every process on the Macs. */
  environment?: Readonly<Record<string, string>>;
}): Promise<MacPool> => {
  const { folder, pace, scalewayPace = pace, persistent = false, reachable = true, environment = {} } = options;
  const scaleway = await startScaleway({
    ...credentials,
    pace: scalewayPace,
    ...(persistent && { data: folder }),
    ...(reachable && {
      startMac: ({ id, password, authorizedKeys, port }) =>
        startMac({
          folder: join(folder, id),
          pace,
          user: { password },
          authorizedKeys,
          environment: { ...sharedHostEnvironment, ...environment },
          ...(port !== undefined && { port }),
        }),
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
 * Creates the SSH key of a fleet, its Secret, and its registration, unless the Secret exists. Macs accept only keys that were registered
 * before they were installed.
 */
export const ensureSSHKey = async (client: Client, pool: Pick<HostPool, 'createKey'>, fleet: string): Promise<void> => {
  const metadata = { namespace, name: secretNames.fleetSSH(fleet) };
  if ((await ignoreNotFound(client.get(secrets, metadata))) !== undefined) return;
  const { publicKey, privateKey } = newKeyPair(fleet);
  const { fleetSSH } = secretKeys;
  await client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    stringData: { [fleetSSH.privateKey]: privateKey, [fleetSSH.publicKey]: publicKey },
  });
  await pool.createKey(fleet, publicKey);
};
