import type { MacHostSpec } from '@tartan/api';
import { defined } from '../defined.ts';
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
