import { machine, type MacHost } from '@tartan/api';
import { apiVersionOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import type { Listers, Machine } from '../controller-deps.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { Holder, Snapshot } from './decide.ts';

const kindOfMachines = { apiVersion: apiVersionOf(machine.resource), kind: machine.resource.kind };

interface ObserveDeps
  extends Pick<Listers, 'macHosts'>,
    Pick<ProviderOptions, 'defaultPoolPrefix' | 'allowedPoolPrefixes'> {
  /** Read from the server itself: a machine that the cache has not seen yet would lose its Mac. */
  readonly machines: readonly Machine[];
  readonly now: number;
}

export const observe = (zone: string, servers: readonly Server[], deps: ObserveDeps): Snapshot => ({
  zone,
  servers: servers.map(({ id, name, os }) => ({ id, name, family: os?.family })),
  holders: deps.machines.flatMap((each) => holderOf(each, deps.defaultPoolPrefix)),
  poolPrefixes: poolPrefixes({ ...deps, macHosts: deps.macHosts.list() }),
  now: timestamp(deps.now),
});

const holderOf = ({ metadata, spec, status }: Machine, defaultPoolPrefix: string | undefined): Holder[] => {
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

interface PoolPrefixSources {
  /** Those that the manager was told. */
  readonly allowedPoolPrefixes: readonly string[];
  readonly macHosts: Iterable<Pick<MacHost, 'spec'>>;
}

/**
 * What is a pool: what the manager was told, and what it claimed from before. The latter is written by managers alone; without it the Macs
 * of a fleet that was deleted would look like strangers. What a machine's spec says makes no pool.
 */
export const poolPrefixes = ({ allowedPoolPrefixes, macHosts }: PoolPrefixSources): ReadonlySet<string> => {
  const prefixes = new Set<string>(allowedPoolPrefixes);
  const add = (prefix: string | undefined): void => {
    if (prefix) prefixes.add(prefix);
  };
  for (const { spec } of macHosts) {
    add(spec.poolPrefix);
    add(spec.release?.poolPrefix);
  }
  return prefixes;
};
