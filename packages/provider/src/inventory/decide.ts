import { machine, type MacHostSpec } from '@tartan/api';
import { apiVersionOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Server } from '@tartan/scaleway';
import type { Listers, Machine } from '../controller-deps.ts';
import { omitUndefined } from '../omit-undefined.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { readReleasingName } from '../mac-host/server-name.ts';
import { poolPrefixesOf } from './pool-prefixes.ts';

/** Servers without a MacHost, and the machines that name them. */
export interface Snapshot {
  readonly zone: string;
  readonly servers: readonly { readonly id: string; readonly name: string; readonly family: string | undefined }[];
  /** Machines that have a server, including those being deleted. */
  readonly holders: readonly Holder[];
  /** Our pools. A server that is being released to another pool belongs to another cluster. */
  readonly poolPrefixes: ReadonlySet<string>;
  /** ISO time, for users and for the order of releases. */
  readonly now: string;
}

export interface Holder {
  readonly serverID: string;
  readonly ref: NonNullable<MacHostSpec['consumerRef']>;
  readonly poolPrefix: string | undefined;
  readonly deleting: boolean;
  /** It was provisioned once: virtual machines may run there. */
  readonly provisioned: boolean;
}

/** MacHosts to create. */
export type Decision = readonly { readonly id: string; readonly spec: MacHostSpec }[];

/**
 * Which MacHosts are missing, and the initial spec of each.
 *
 *   | name at Scaleway | machine with that `status.serverID`      | spec                                     |
 *   |------------------|------------------------------------------|------------------------------------------|
 *   | any              | one, provisioned and not being deleted   | held by it: it may run virtual machines  |
 *   | releasing        | any other; or none, and the pool is ours | release: it was being released           |
 *   | other            | exactly one                              | held by it                               |
 *   | other            | none, or several                         | neither; its state tells who may have it |
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
  omitUndefined({ zone, consumerRef: ref, poolPrefix: poolPrefix || undefined });

const releasingSpec = (
  zone: string,
  serverName: string,
  poolPrefix: string,
  family: string | undefined,
  now: string,
): MacHostSpec => ({
  zone,
  release: omitUndefined({
    poolPrefix,
    family: family || undefined,
    reason: 'Stranded' as const,
    serverName,
    message:
      'Its name shows that it was being released to the pool, but the record of that release is lost. It is wiped again.',
    requestedAt: now,
  }),
});

const kindOfMachines = { apiVersion: apiVersionOf(machine.resource), kind: machine.resource.kind };

interface ObserveDeps
  extends Pick<Listers, 'macHosts'>,
    Pick<ProviderOptions, 'defaultPoolPrefix' | 'allowedPoolPrefixes'> {
  /** A live read: a machine that the cache does not have yet would lose its Mac. */
  readonly machines: readonly Machine[];
  readonly now: number;
}

export const observe = (zone: string, servers: readonly Server[], deps: ObserveDeps): Snapshot => ({
  zone,
  servers: servers.map(({ id, name, os }) => ({ id, name, family: os?.family })),
  holders: deps.machines.flatMap((each) => holderOf(each, deps.defaultPoolPrefix)),
  poolPrefixes: poolPrefixesOf(deps.allowedPoolPrefixes, deps.macHosts.list()),
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
