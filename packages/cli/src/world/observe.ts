import { type MacFleet, macFleet, type MacHost, macHost, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, nodes, pods } from '@tartan/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { itemsOf, noteOf, readAll, readIfAllowed } from '../cluster/read-all.ts';

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Host = Live<MacHost>;
export type Fleet = Live<MacFleet>;
type NodeObject = NonNullable<(typeof nodes)['ofType']>;
type PodObject = NonNullable<(typeof pods)['ofType']>;
export type Node = Live<NodeObject>;
export type Pod = Live<PodObject>;

/** All that a view is made of, at one moment. */
export interface World {
  readonly now: number;
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
  readonly fleets: readonly Fleet[];
  readonly nodes: readonly Node[];
  /** Undefined: they may not be read. */
  readonly pods: readonly Pod[] | undefined;
  /** What else could not be read, and is empty for that. */
  readonly unread: ReadonlySet<'fleets' | 'nodes'>;
  /** What is missing in this picture, and why, for people. */
  readonly notes: readonly string[];
}

export interface Selection {
  /** Of machines and fleets; all unless told. Macs and Nodes have none, and the Pods on them may be anywhere. */
  readonly namespace?: string;
}

/** Machines and MacHosts must be readable, or there is nothing to show; a picture without the others is still one. */
export const observeWorld = async (cluster: Cluster, { namespace }: Selection, signal: AbortSignal): Promise<World> => {
  const inScope = { signal, ...(namespace !== undefined && { namespace }) };
  const [machines, hosts, fleets, nodeList, podList] = await Promise.all([
    readAll(cluster, machine.resource, inScope),
    readAll(cluster, macHost.resource, { signal }),
    readIfAllowed(cluster, macFleet.resource, inScope),
    readIfAllowed(cluster, nodes, { signal }),
    readIfAllowed(cluster, pods, { signal }),
  ]);
  return {
    now: cluster.clock.now(),
    machines,
    hosts,
    fleets: itemsOf(fleets),
    nodes: itemsOf(nodeList),
    pods: podList.kind === 'read' ? podList.items : undefined,
    unread: new Set([
      ...(fleets.kind === 'unread' ? ['fleets' as const] : []),
      ...(nodeList.kind === 'unread' ? ['nodes' as const] : []),
    ]),
    notes: [fleets, nodeList, podList].flatMap(noteOf),
  };
};
