import { formatProviderID, machine, type MacHostSpec } from '@tartan/api';
import { type CallOptions, type Client, ignoreNotFound, keyOf } from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { type HostPool, ScalewayError, type Server } from '@tartan/scaleway';
import type { Host, Listers, Machine } from '../controller-deps.ts';
import type { ServerCache, ServerObservation } from '../inventory/server-cache.ts';
import { hostPauseReasons } from '../pause/pauses.ts';
import { type DemandDeps, demandOf, otherOSFor } from './os-demand.ts';
import { newSuffix } from './server-name.ts';
import {
  abandonReason,
  type Claimant,
  type Holder,
  type Limits,
  type ServerFacts,
  type ServerView,
  type Snapshot,
} from './snapshot.ts';

export interface ObserveDeps extends DemandDeps, Pick<Listers, 'clusters'> {
  readonly serverCache: Pick<ServerCache, 'get'>;
  /** Our pools. */
  readonly poolPrefixes: () => ReadonlySet<string>;
  readonly random: Random;
  readonly limits: Limits;
}

/** From caches only, without requests. The two functions below make the live reads. */
export const observe = (observer: ObserveDeps, host: Host): Snapshot => {
  const { serverCache, machines, clusters, poolPrefixes, clock, limits } = observer;
  const { metadata, spec, status = {} } = host;
  const abandoned = abandonReason(host);
  const server = viewOf(serverCache.get(spec.zone, metadata.name));
  return {
    id: metadata.name,
    spec,
    status,
    server,
    holder: cachedHolder(spec.consumerRef, metadata.name, machines),
    claimants: claimantsOf(machines, metadata.name, server),
    poolPrefixes: poolPrefixes(),
    abandoned,
    schedulableNodes:
      abandoned !== undefined || spec.release ? schedulableNodesOf(observer.nodes, spec.zone, metadata.name) : [],
    otherOS: otherOSFor(host, () => demandOf(observer, host), limits),
    pauses: hostPauseReasons(host, {
      machine: (name) => machines.get(keyOf(name)),
      cluster: (name) => clusters.get(keyOf(name)),
      clusters: clusters.list,
    }),
    suffix: newSuffix(observer.random()),
    now: clock.now(),
    limits,
  };
};

const schedulableNodesOf = (all: ObserveDeps['nodes'], zone: string, serverID: string): string[] => {
  return all
    .byIndex('providerID', formatProviderID({ zone, serverID }))
    .filter(({ spec }) => spec?.unschedulable !== true)
    .map(({ metadata }) => metadata.name);
};

interface ReadServerDeps {
  readonly pool: Pick<HostPool, 'getServer'>;
  readonly serverCache: Pick<ServerCache, 'setServer'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Reads this server from Scaleway and updates the shared cache. Rejects with ScalewayError. */
export const readServer = async (
  { pool, serverCache, clock }: ReadServerDeps,
  zone: string,
  id: string,
  options: { signal: AbortSignal },
): Promise<ServerView> => {
  const at = clock.now();
  const server = await pool.getServer(zone, id, options).catch((error: unknown) => {
    if (error instanceof ScalewayError && error.kind === 'not found') return undefined;
    throw error;
  });
  serverCache.setServer(zone, id, server, at);
  return server ? { kind: 'seen', server: factsOf(server), at, fresh: true } : { kind: 'missing', fresh: true };
};

/** Reads the holder from the API server. */
export const readHolder = async (
  { client }: { readonly client: Pick<Client, 'get'> },
  ref: MacHostSpec['consumerRef'],
  id: string,
  options: CallOptions,
): Promise<Holder> =>
  holderFrom(
    ref,
    id,
    ref && isMachine(ref) ? await ignoreNotFound(client.get(machine.resource, ref, options)) : undefined,
  );

/** The holder, from the machine of that name. A machine with another UID is another one. */
export const holderFrom = (
  ref: MacHostSpec['consumerRef'],
  id: string,
  found: Machine | undefined,
  fresh = true,
): Holder => {
  if (!ref) return { kind: 'none' };
  if (!isMachine(ref)) return { kind: 'unknown' };
  if (found?.metadata.uid !== ref.uid) return { kind: 'gone' };
  const { spec, status } = found;
  // Without a server it is about to record one: not stranded.
  if (status?.serverID && status.serverID !== id) return { kind: 'elsewhere', serverID: status.serverID };
  return { kind: 'alive', type: spec.type, provisioned: status?.initialization?.provisioned === true, fresh };
};

const viewOf = (observed: ServerObservation): ServerView => {
  switch (observed.kind) {
    case 'seen':
      return { kind: 'seen', server: factsOf(observed.server), at: observed.at, fresh: false };
    case 'missing':
      return { kind: 'missing', fresh: false };
    case 'unknown':
      return observed;
  }
};

/** Without the password. */
const factsOf = ({ name, type, status, os, ip }: Server): ServerFacts => ({ name, type, status, os, ip });

const isMachine = ({ kind, apiVersion }: NonNullable<MacHostSpec['consumerRef']>): boolean =>
  kind === machine.resource.kind && apiVersion.startsWith(`${machine.resource.group}/`);

const cachedHolder = (ref: MacHostSpec['consumerRef'], id: string, machines: Listers['machines']): Holder => {
  const holder = holderFrom(ref, id, ref && machines.get(keyOf(ref)), false);
  return holder.kind === 'gone' || holder.kind === 'elsewhere' ? { kind: 'unseen' } : holder;
};

const claimantsOf = (machines: Listers['machines'], id: string, view: ServerView): Claimant[] => {
  const namesakes = view.kind === 'seen' ? machines.byIndex('name', view.server.name) : [];
  return [
    ...machines.byIndex('serverID', id).map(({ metadata }): Claimant => ({ key: keyOf(metadata), by: 'serverID' })),
    ...namesakes
      .filter(({ status }) => status?.serverID !== id)
      .map(({ metadata }): Claimant => ({ key: keyOf(metadata), by: 'name' })),
  ];
};
