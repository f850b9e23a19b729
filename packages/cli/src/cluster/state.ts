import { type MacFleet, macFleet, machine, type MacHost, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, nodes, pods } from '@tartan/kube';
import type { Cluster } from './connection.ts';
import { listAll, listIfAllowed } from './list.ts';

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
