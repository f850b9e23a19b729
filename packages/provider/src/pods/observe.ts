import { finalizers } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  hasFinalizer,
  isKubeError,
  keyOf,
  type Live,
  nodes,
  type ObjectName,
  pods,
  type WatchCache,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Absences } from './absences.ts';
import type { PodFacts, Snapshot, Whereabouts } from './decide.ts';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type Node = NonNullable<(typeof nodes)['ofType']>;

/** Where Pods and Nodes are looked up: in the caches for a first look, on the server before anything is written. */
export interface World {
  pod(name: ObjectName, options: CallOptions): Promise<Live<Pod> | undefined>;
  hasNode(name: string, options: CallOptions): Promise<boolean>;
}

export const cachedWorld = (caches: {
  pods: Pick<WatchCache<Pod>, 'get'>;
  nodes: Pick<WatchCache<Node>, 'get'>;
}): World => ({
  pod: async (name) => caches.pods.get(keyOf(name)),
  hasNode: async (name) => caches.nodes.get(name) !== undefined,
});

const unlessGone = <T>(error: unknown, gone: T): T => {
  if (isKubeError(error, 'notFound')) return gone;
  throw error;
};

export const freshWorld = (client: Pick<Client, 'get'>): World => ({
  pod: (name, options) => client.get(pods, name, options).catch((error: unknown) => unlessGone(error, undefined)),
  hasNode: (name, options) =>
    client.get(nodes, { name }, options).then(
      () => true,
      (error: unknown) => unlessGone(error, false),
    ),
});

export interface Observation {
  /** As it was read, for whoever writes it. */
  pod: Live<Pod> | undefined;
  snapshot: Snapshot;
}

export interface Observer {
  absences: Absences;
  clock: Clock;
  graceMs: number;
}

/** The Pod first and then the Node that this very Pod names. A Node that is there ends its absence. */
export const observe = async (
  { absences, clock, graceMs }: Observer,
  world: World,
  name: ObjectName,
  options: CallOptions,
): Promise<Observation> => {
  const pod = await world.pod(name, options);
  const node = await locate(pod?.spec?.nodeName, world, absences, options);
  return { pod, snapshot: { pod: pod && factsOf(pod), node, now: clock.now(), graceMs } };
};

const locate = async (
  node: string | undefined,
  world: World,
  absences: Absences,
  options: CallOptions,
): Promise<Whereabouts> => {
  if (!node) return { kind: 'unbound' };
  if (!(await world.hasNode(node, options))) return { kind: 'absent', forMs: absences.missingForMs(node) };
  absences.forget(node);
  return { kind: 'present' };
};

/** What of a Pod the decision hangs on. */
export const factsOf = (pod: Live<Pod>): PodFacts => {
  const { deletionTimestamp } = pod.metadata;
  return {
    held: hasFinalizer(pod, finalizers.vmCleanup),
    deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
  };
};
