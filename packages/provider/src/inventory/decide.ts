import { machine, type MacHost, type MacHostSpec } from '@tartan/api';
import { apiVersionOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import type { Listers, Machine } from '../controller-deps.ts';
import { defined } from '../defined.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { readReleasingName } from '../mac-host/server-name.ts';

/** What matters of servers that were listed and have no MacHost, and of the machines that know them. */
export interface Snapshot {
  readonly zone: string;
  readonly servers: readonly { readonly id: string; readonly name: string; readonly family: string | undefined }[];
  /** Machines that have a server, those that are being deleted among them. */
  readonly holders: readonly Holder[];
  /** What is a pool here. A server on its way back to any other is another cluster's. */
  readonly poolPrefixes: ReadonlySet<string>;
  /** For people and for the order of releases: an ISO time. */
  readonly now: string;
}

export interface Holder {
  readonly serverID: string;
  readonly ref: NonNullable<MacHostSpec['consumerRef']>;
  readonly poolPrefix: string | undefined;
  readonly deleting: boolean;
  /** It was made ready once: virtual machines may run there. */
  readonly provisioned: boolean;
}

/** MacHosts to make. */
export type Decision = readonly { readonly id: string; readonly spec: MacHostSpec }[];

/**
 * Which MacHosts are missing, and what each says from the start.
 *
 *   | name at Scaleway | machine with that `status.serverID`      | spec                                              |
 *   |------------------|------------------------------------------|---------------------------------------------------|
 *   | any              | one, provisioned and not being deleted   | held by it: it may run virtual machines           |
 *   | releasing        | any other; or none, and the pool is ours | release: it was given back before it was forgotten |
 *   | other            | exactly one                              | held by it                                        |
 *   | other            | none, or several                         | neither; who may have it shows in its state       |
 */
export const decide = ({ zone, servers, holders, poolPrefixes, now }: Snapshot): Decision =>
  servers.map(({ id, name, family }) => {
    const [holder, ...others] = holders.filter(({ serverID }) => serverID === id);
    const only = others.length === 0 ? holder : undefined;
    const released = readReleasingName(name);
    if (only && (!released || (only.provisioned && !only.deleting))) return { id, spec: heldBy(zone, only) };
    const isOurs = released !== undefined && (holder !== undefined || poolPrefixes.has(released.poolPrefix));
    return { id, spec: isOurs ? releasingSpec(zone, name, released.poolPrefix, family, now) : { zone } };
  });

const heldBy = (zone: string, { ref, poolPrefix }: Holder): MacHostSpec =>
  defined({ zone, consumerRef: ref, poolPrefix: poolPrefix || undefined });

const releasingSpec = (
  zone: string,
  serverName: string,
  poolPrefix: string,
  family: string | undefined,
  now: string,
): MacHostSpec => ({
  zone,
  release: defined({
    poolPrefix,
    family: family || undefined,
    reason: 'Stranded' as const,
    serverName,
    message:
      'Its name said that it was on its way back to the pool, and how far it had come was lost. It is wiped again.',
    requestedAt: now,
  }),
});

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
