import { type MacFleet, macFleet, machine, type MacHost, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, nodes, pods } from '@tartan/kube';
import type { Cluster, Connection } from './connection.ts';
import { itemsOf, listAll, listIfAllowed, unreadNote } from './list.ts';
import { silentWatchCache, watchCaches } from './watch-caches.ts';

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Host = Live<MacHost>;
export type Fleet = Live<MacFleet>;
type NodeObject = NonNullable<(typeof nodes)['ofType']>;
type PodObject = NonNullable<(typeof pods)['ofType']>;
export type Node = Live<NodeObject>;
export type Pod = Live<PodObject>;

/** All that a view is made of, at one moment. */
export interface ClusterState {
  readonly now: number;
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
  readonly fleets: readonly Fleet[];
  readonly nodes: readonly Node[];
  /** Undefined: they may not be read. */
  readonly pods: readonly Pod[] | undefined;
  /** What else could not be read, and is empty for that. */
  readonly unreadable: ReadonlySet<'fleets' | 'nodes'>;
  /** What is missing in this picture, and why, for people. */
  readonly notes: readonly string[];
}

export interface Selection {
  /** Of machines and fleets; all unless told. Macs and Nodes have none, and the Pods on them may be anywhere. */
  readonly namespace?: string;
}

/** Machines and MacHosts must be readable, or there is nothing to show; a picture without the others is still one. */
export const readClusterState = async (
  cluster: Cluster,
  { namespace }: Selection,
  signal: AbortSignal,
): Promise<ClusterState> => {
  const inScope = { signal, ...(namespace !== undefined && { namespace }) };
  const [machines, hosts, fleets, nodeList, podList] = await Promise.all([
    listAll(cluster, machine.resource, inScope),
    listAll(cluster, macHost.resource, { signal }),
    listIfAllowed(cluster, macFleet.resource, inScope),
    listIfAllowed(cluster, nodes, { signal }),
    listIfAllowed(cluster, pods, { signal }),
  ]);
  return {
    now: cluster.clock.now(),
    machines,
    hosts,
    fleets: itemsOf(fleets),
    nodes: itemsOf(nodeList),
    pods: podList.kind === 'listed' ? podList.items : undefined,
    unreadable: new Set([
      ...(fleets.kind === 'unreadable' ? ['fleets' as const] : []),
      ...(nodeList.kind === 'unreadable' ? ['nodes' as const] : []),
    ]),
    notes: [fleets, nodeList, podList].flatMap(unreadNote),
  };
};

/** Where somebody looks: once, and from then on. */
export interface StateSource<Seen> {
  /** Rejects with a sentence for people when there is nothing to be seen. */
  read(connection: Connection, selection: Selection, signal: AbortSignal): Promise<Seen>;
  /** Keeps telling until the signal fires. */
  watch(
    connection: Connection,
    selection: Selection,
    first: Seen,
    follower: Watcher<Seen>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What happens to something that is followed. */
interface Watcher<Seen> {
  /** Once all has been read, and after each change. */
  onChange(seen: Seen): void;
  /** Also without a change, since times pass. Undefined: never. */
  readonly everyMs: number | undefined;
}

/**
 * Keeps telling what is there until the signal fires. What could not be read in `first` is not followed. A server that goes away is
 * waited for, and a note says so meanwhile.
 */
export const watchClusterState = async (
  connection: Pick<Connection, 'client' | 'clock'>,
  { namespace }: Selection,
  first: ClusterState,
  { onChange, everyMs }: Watcher<ClusterState>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock } = connection;
  const scope = namespace === undefined ? {} : { namespace };
  const caches = {
    machines: silentWatchCache(connection, { resource: machine.resource, ...scope }),
    hosts: silentWatchCache(connection, { resource: macHost.resource }),
    fleets: silentWatchCache(connection, { resource: macFleet.resource, ...scope }),
    nodes: silentWatchCache(connection, { resource: nodes }),
    pods: silentWatchCache(connection, { resource: pods }),
  };
  const watched = [
    caches.machines,
    caches.hosts,
    ...(first.unreadable.has('fleets') ? [] : [caches.fleets]),
    ...(first.unreadable.has('nodes') ? [] : [caches.nodes]),
    ...(first.pods === undefined ? [] : [caches.pods]),
  ];
  const tell = (error: Error | undefined): void =>
    onChange({
      now: clock.now(),
      machines: caches.machines.list(),
      hosts: caches.hosts.list(),
      fleets: caches.fleets.list(),
      nodes: caches.nodes.list(),
      pods: first.pods && caches.pods.list(),
      unreadable: first.unreadable,
      notes: error ? [...first.notes, staleNote(error)] : first.notes,
    });
  await watchCaches(clock, watched, { tell, everyMs }, signal);
};

/** A note for people. */
export const staleNote = ({ message }: Error): string => `This may be old: ${message}`;

/** Machines, Macs, fleets, Nodes and Pods: what most views are made of. */
export const clusterStateSource: StateSource<ClusterState> = { read: readClusterState, watch: watchClusterState };
