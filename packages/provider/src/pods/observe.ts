import { finalizers } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  hasFinalizer,
  ignoreNotFound,
  keyOf,
  type Live,
  nodes,
  type ObjectName,
  pods,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Listers, Pod } from '../controller-deps.ts';
import type { NodePresence, PodFacts, Snapshot } from './decide.ts';
import type { MissingNodeTracker } from './missing-nodes.ts';

/** Where Pods and Nodes are looked up: in the caches for a first look, on the server before anything is written. */
export interface ObjectReader {
  pod(name: ObjectName, options: CallOptions): Promise<Live<Pod> | undefined>;
  hasNode(name: string, options: CallOptions): Promise<boolean>;
}

export const cachedReader = (caches: Pick<Listers, 'pods' | 'nodes'>): ObjectReader => ({
  pod: async (name) => caches.pods.get(keyOf(name)),
  hasNode: async (name) => caches.nodes.get(name) !== undefined,
});

export const liveReader = (client: Pick<Client, 'get'>): ObjectReader => ({
  pod: (name, options) => ignoreNotFound(client.get(pods, name, options)),
  hasNode: async (name, options) => (await ignoreNotFound(client.get(nodes, { name }, options))) !== undefined,
});

export interface Observation {
  /** As it was read, for whoever writes it. */
  pod: Live<Pod> | undefined;
  snapshot: Snapshot;
}

export interface ObserveDeps {
  missingNodes: MissingNodeTracker;
  clock: Clock;
  graceMs: number;
}

/** The Pod first and then the Node that this very Pod names. */
export const observe = async (
  { missingNodes, clock, graceMs }: ObserveDeps,
  reader: ObjectReader,
  name: ObjectName,
  options: CallOptions,
): Promise<Observation> => {
  const pod = await reader.pod(name, options);
  const node = await nodePresence(pod?.spec?.nodeName, reader, missingNodes, options);
  return { pod, snapshot: { pod: pod && podFacts(pod), node, now: clock.now(), graceMs } };
};

const nodePresence = async (
  node: string | undefined,
  reader: ObjectReader,
  missingNodes: MissingNodeTracker,
  options: CallOptions,
): Promise<NodePresence> => {
  if (!node) return { kind: 'unbound' };
  if (!(await reader.hasNode(node, options))) return { kind: 'absent', forMs: missingNodes.missingForMs(node) };
  return { kind: 'present' };
};

/** The count of a missing Node begins with the first observation and ends when it is there. */
export const recordNode = (missingNodes: MissingNodeTracker, { pod, snapshot: { node } }: Observation): void => {
  const name = pod?.spec?.nodeName;
  if (name) missingNodes.record(name, node.kind === 'absent');
};

/** What of a Pod the decision hangs on. */
export const podFacts = (pod: Live<Pod>): PodFacts => {
  const { deletionTimestamp } = pod.metadata;
  return {
    held: hasFinalizer(pod, finalizers.vmCleanup),
    deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
  };
};
