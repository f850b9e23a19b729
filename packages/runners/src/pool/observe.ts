import {
  type Client,
  ignoreNotFound,
  isKubeError,
  type Live,
  nodes as nodeResource,
  pods as podResource,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMemory } from './memory.ts';
import {
  hasEnded,
  nodeFacts,
  type NodeFacts,
  type Pod,
  podFacts,
  poolFacts,
  type ServiceAccount,
  type Snapshot,
  unknownNode,
  unscheduledNode,
} from './snapshot.ts';
import { accountsOf, podsOf, type PoolCaches } from './watches.ts';

export interface ObserveDeps extends PoolCaches {
  client: Pick<Client, 'get'>;
  clock: Clock;
}

export interface Observation {
  readonly snapshot: Snapshot;
  /** As they were judged, by UID. */
  readonly pods: ReadonlyMap<string, Live<Pod>>;
  /** By name. */
  readonly accounts: ReadonlyMap<string, Live<ServiceAccount>>;
}

/**
 * Reads one pool from caches, with this process's own writes laid over them. Live reads are only for Pods whose creation is unconfirmed, and
 * for Nodes that the cache does not have, which may be new ones.
 */
export const observe = async (
  deps: ObserveDeps,
  memory: PoolMemory,
  github: Snapshot['github'],
  signal: AbortSignal,
): Promise<Observation> => {
  const { pool } = memory;
  const pods = await podsWithMutations(deps, memory, signal);
  const nodeOf = createNodeReader(deps, signal);
  const facts = await Promise.all(
    pods.map(async (pod) => podFacts(pod, pool.spec.image, await nodeOf(pod), memory.offlineSince)),
  );
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const accounts = accountsOf(deps, pool.metadata.uid);
  return {
    snapshot: {
      now: deps.clock.now(),
      pool: poolFacts(pool),
      pods: facts,
      orphanedAccounts: accounts.map(({ metadata }) => metadata.name).filter((name) => !names.has(name)),
      github,
    },
    pods: new Map(pods.map((pod) => [pod.metadata.uid, pod])),
    accounts: new Map(accounts.map((account) => [account.metadata.name, account])),
  };
};

const podsWithMutations = async (
  deps: ObserveDeps,
  { mutations, pool }: PoolMemory,
  signal: AbortSignal,
): Promise<Live<Pod>[]> => {
  const { uid, namespace = '' } = pool.metadata;
  const { pods, unconfirmed } = mutations.applyTo(podsOf(deps, uid));
  if (unconfirmed.length === 0) return pods;
  for (const name of unconfirmed) {
    const pod = await ignoreNotFound(deps.client.get(podResource, { namespace, name }, { signal }));
    if (pod === undefined) mutations.notCreated(name);
    else mutations.created(pod);
  }
  return mutations.applyTo(podsOf(deps, uid)).pods;
};

/** Reads each Node once. The Node of a Pod that has ended or is terminating does not matter. */
const createNodeReader = (deps: ObserveDeps, signal: AbortSignal) => {
  const reads = new Map<string, Promise<NodeFacts>>();
  return (pod: Live<Pod>): NodeFacts | Promise<NodeFacts> => {
    const name = pod.spec?.nodeName;
    if (name === undefined) return unscheduledNode(pod);
    const cached = deps.nodes.get(name);
    if (cached !== undefined) return nodeFacts(cached);
    if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return unknownNode;
    const read = reads.get(name) ?? liveReadNode(deps.client, pod, signal);
    reads.set(name, read);
    return read;
  };
};

/** The Node of a Pod, read from the server. A Node that cannot be read just now is not gone. */
export const liveReadNode = async (
  client: Pick<Client, 'get'>,
  pod: Live<Pod>,
  signal: AbortSignal,
): Promise<NodeFacts> => {
  const name = pod.spec?.nodeName;
  if (name === undefined) return unscheduledNode(pod);
  try {
    return nodeFacts(await client.get(nodeResource, { name }, { signal }));
  } catch (error) {
    if (isKubeError(error, 'notFound')) return { kind: 'gone' };
    if (isKubeError(error, 'aborted')) throw error;
    return unknownNode;
  }
};
