import { machine, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { apiVersionOf, type Live, type WatchCache } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import type { Holder, Snapshot } from './decide.ts';
import { poolPrefixes } from './pool-prefixes.ts';

const kindOfMachines = { apiVersion: apiVersionOf(machine.resource), kind: machine.resource.kind };

interface World {
  readonly macHosts: Pick<WatchCache<MacHost>, 'get' | 'list'>;
  readonly allowedPoolPrefixes: readonly string[];
  /** Read from the server itself: a machine that the cache has not seen yet would lose its Mac. */
  readonly machines: readonly Live<ScalewayAppleSiliconMachine>[];
  readonly defaultPoolPrefix: string | undefined;
  readonly now: number;
}

export const missingOf = (servers: readonly Server[], macHosts: Pick<WatchCache<MacHost>, 'get'>): Server[] =>
  servers.filter(({ id }) => macHosts.get(id) === undefined);

export const observe = (zone: string, servers: readonly Server[], world: World): Snapshot => ({
  zone,
  servers: servers.map(({ id, name, os }) => ({ id, name, family: os?.family })),
  known: new Set(servers.map(({ id }) => id).filter((id) => world.macHosts.get(id) !== undefined)),
  holders: world.machines.flatMap((each) => holderOf(each, world.defaultPoolPrefix)),
  poolPrefixes: poolPrefixes({ ...world, macHosts: world.macHosts.list() }),
  now: timestamp(world.now),
});

const holderOf = (
  { metadata, spec, status }: Live<ScalewayAppleSiliconMachine>,
  defaultPoolPrefix: string | undefined,
): Holder[] => {
  const { name, namespace = '', uid, deletionTimestamp } = metadata;
  if (!status?.serverID) return [];
  return [
    {
      serverID: status.serverID,
      ref: { ...kindOfMachines, namespace, name, uid },
      poolPrefix: spec.adoptPoolPrefix || defaultPoolPrefix,
      deleting: deletionTimestamp !== undefined,
      provisioned: status.initialization?.provisioned === true,
    },
  ];
};
