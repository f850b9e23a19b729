import { type MacFleet, macFleet, machine, type MacHost, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, nodes, pods } from '@tartan/kube';
import type { Cluster, Connection } from './connection.ts';
import { listAll, listIfAllowed } from './list.ts';
import { createSilentInformer, watchInformers } from './watch-informers.ts';

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Host = Live<MacHost>;
export type Fleet = Live<MacFleet>;
type NodeObject = NonNullable<(typeof nodes)['ofType']>;
type PodObject = NonNullable<(typeof pods)['ofType']>;
export type Node = Live<NodeObject>;
export type Pod = Live<PodObject>;

/** The objects that a view shows, at one time. */
export interface ClusterState {
  readonly now: number;
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
  readonly fleets: readonly Fleet[];
  readonly nodes: readonly Node[];
  /** Undefined: the user may not read Pods. */
  readonly pods: readonly Pod[] | undefined;
  /** Kinds that are empty because the user may not read them. */
  readonly unreadable: ReadonlySet<'fleets' | 'nodes'>;
  /** What could not be read, and why. */
  readonly notes: readonly string[];
}

export interface Selection {
  /** Of machines and fleets; undefined: all. MacHosts and Nodes have no namespace, and Pods on them may be in any. */
  readonly namespace?: string | undefined;
}

/** Rejects if machines or MacHosts cannot be read. The other kinds are optional. */
export const readClusterState = async (
  cluster: Cluster,
  { namespace }: Selection,
  signal: AbortSignal,
): Promise<ClusterState> => {
  const inScope = { signal, namespace };
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
    fleets: fleets.items ?? [],
    nodes: nodeList.items ?? [],
    pods: podList.items,
    unreadable: new Set([...(fleets.items ? [] : ['fleets' as const]), ...(nodeList.items ? [] : ['nodes' as const])]),
    notes: [fleets, nodeList, podList].flatMap(({ notes }) => notes),
  };
};

/** Reads the state of a view once, and watches it. */
export interface StateSource<Seen> {
  read(connection: Connection, selection: Selection, signal: AbortSignal): Promise<Seen>;
  /** Runs until the signal fires. */
  watch(
    connection: Connection,
    selection: Selection,
    first: Seen,
    watcher: Watcher<Seen>,
    signal: AbortSignal,
  ): Promise<void>;
}

interface Watcher<Seen> {
  /** Called after the first read and after each change. */
  onChange(seen: Seen): void;
  /** Also called after this time, since ages grow. Undefined: never. */
  readonly everyMs: number | undefined;
}

/** Watches until the signal fires. Kinds that could not be read in `first` are not watched. A note reports an unreachable server. */
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
    machines: createSilentInformer(connection, { resource: machine.resource, ...scope }),
    hosts: createSilentInformer(connection, { resource: macHost.resource }),
    fleets: createSilentInformer(connection, { resource: macFleet.resource, ...scope }),
    nodes: createSilentInformer(connection, { resource: nodes }),
    pods: createSilentInformer(connection, { resource: pods }),
  };
  const watched = [
    caches.machines,
    caches.hosts,
    ...(first.unreadable.has('fleets') ? [] : [caches.fleets]),
    ...(first.unreadable.has('nodes') ? [] : [caches.nodes]),
    ...(first.pods === undefined ? [] : [caches.pods]),
  ];
  const update = (error: Error | undefined): void =>
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
  await watchInformers(clock, watched, { update, everyMs }, signal);
};

export const staleNote = ({ message }: Error): string => `This may be outdated: ${message}`;

export const clusterStateSource: StateSource<ClusterState> = { read: readClusterState, watch: watchClusterState };
