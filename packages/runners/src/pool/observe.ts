import {
  type Client,
  ignoreNotFound,
  isKubeError,
  type Live,
  nodes as nodeResource,
  pods as podResource,
} from '@tartan/kube';
import type { PoolDeps } from './act/context.ts';
import type { PoolMemory } from './memory.ts';
import {
  cachedNodeFacts,
  hasEnded,
  nodeFacts,
  type NodeFacts,
  type Pod,
  podFacts,
  poolFacts,
  type Snapshot,
  unknownNode,
  unscheduledNode,
} from './snapshot.ts';

export type Observation = Awaited<ReturnType<typeof observe>>;

/**
 * Reads one pool from caches, with this process's own writes on top. Reads live only Pods whose creation is unconfirmed, and Nodes that the
 * cache does not have, which may be new.
 */
export const observe = async (deps: PoolDeps, memory: PoolMemory, github: Snapshot['github'], signal: AbortSignal) => {
  const { pool } = memory;
  const pods = await podsWithMutations(deps, memory, signal);
  const facts = await Promise.all(
    pods.map(async (pod) => podFacts(pod, pool.spec.image, await readNode(deps, pod, signal), memory.offlineSince)),
  );
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const accounts = deps.accounts.byIndex('pool', pool.metadata.uid);
  const snapshot: Snapshot = {
    now: deps.clock.now(),
    pool: poolFacts(pool),
    pods: facts,
    orphanedAccounts: accounts.map(({ metadata }) => metadata.name).filter((name) => !names.has(name)),
    github,
  };
  return {
    snapshot,
    /** The Pods of the snapshot, by UID. */
    pods: new Map(pods.map((pod) => [pod.metadata.uid, pod])),
    /** By name. */
    accounts: new Map(accounts.map((account) => [account.metadata.name, account])),
  };
};

const podsWithMutations = async (
  deps: PoolDeps,
  { mutations, pool }: PoolMemory,
  signal: AbortSignal,
): Promise<Live<Pod>[]> => {
  const { uid, namespace = '' } = pool.metadata;
  const { pods, unconfirmed } = mutations.applyTo(deps.pods.byIndex('pool', uid));
  if (unconfirmed.length === 0) return pods;
  for (const name of unconfirmed) {
    const pod = await ignoreNotFound(deps.client.get(podResource, { namespace, name }, { signal }));
    if (pod === undefined) mutations.notCreated(name);
    else mutations.created(pod);
  }
  return mutations.applyTo(deps.pods.byIndex('pool', uid)).pods;
};

/** The Node of a Pod that has ended or is terminating does not matter. */
const readNode = (deps: PoolDeps, pod: Live<Pod>, signal: AbortSignal): NodeFacts | Promise<NodeFacts> => {
  const cached = cachedNodeFacts(deps.nodes, pod);
  if (cached !== undefined) return cached;
  const isOver = hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined;
  return isOver ? unknownNode : liveReadNode(deps.client, pod, signal);
};

/** The Node of a Pod, read live. A Node that cannot be read right now does not count as gone. */
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
