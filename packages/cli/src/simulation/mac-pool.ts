import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { serverNames } from '@tartan/api';
import { createHostPool, type HostPool } from '@tartan/scaleway';
import { startMac } from '@tartan/sim-mac';
import { type SimulatedScaleway, type SimulatedServer, startScaleway } from '@tartan/sim-scaleway';

const zone = 'fr-par-1';

/** What a provider needs to know to rent here. Nothing in it is secret: this Scaleway is on this machine, and ends with it. */
const credentials = {
  accessKey: 'SCWTARTANSIMULATED00',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
} as const;

/** All Macs have this machine's address, so each agent serves on a port of its own. */
const sharedMachine = { TART_KUBELET_NODE_IP: '127.0.0.1', TART_KUBELET_PORT: '0' } as const;

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
  keeps?: boolean;
  /** 1 is as slow as real ones. Of Macs; and of Scaleway, which takes 10 min to reinstall one. */
  pace: number;
  scalewayPace?: number;
  /** For every process on the Macs, beside what they need to share this machine. */
  environment?: Readonly<Record<string, string>>;
}): Promise<MacPool> => {
  const { folder, pace, scalewayPace = pace, keeps = false, environment = {} } = options;
  const scaleway = await startScaleway({
    ...credentials,
    pace: scalewayPace,
    ...(keeps && { data: folder }),
    startMac: ({ id, password, authorizedKeys, port }) =>
      startMac({
        folder: join(folder, id),
        pace,
        user: { password },
        authorizedKeys,
        environment: { ...sharedMachine, ...environment },
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
