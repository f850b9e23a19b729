import { type Client, isKubeError, type Live, nodes as nodeResource, pods as podResource } from '@tartan/kube';
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
 * Reads what matters of one pool: from caches, with what this process has written laid over them. The server is asked only for what is in
 * doubt: Pods whose making nobody confirmed, and Nodes that the cache does not know, which may be new ones.
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
  { mutations: overlay, pool }: PoolMemory,
  signal: AbortSignal,
): Promise<Live<Pod>[]> => {
  const { uid, namespace = '' } = pool.metadata;
  const { pods, unconfirmed } = overlay.applyTo(podsOf(deps, uid));
  if (unconfirmed.length === 0) return pods;
  for (const name of unconfirmed) {
    try {
      overlay.created(await deps.client.get(podResource, { namespace, name }, { signal }));
    } catch (error) {
      if (!isKubeError(error, 'notFound')) throw error;
      overlay.notCreated(name);
    }
  }
  return overlay.applyTo(podsOf(deps, uid)).pods;
};

/** Asks for each Node once. Pods that have ended, or are being deleted, need nothing of theirs. */
const createNodeReader = (deps: ObserveDeps, signal: AbortSignal) => {
  const reads = new Map<string, Promise<NodeFacts>>();
  return (pod: Live<Pod>): NodeFacts | Promise<NodeFacts> => {
    const name = pod.spec?.nodeName;
    if (name === undefined) return unscheduledNode(pod);
    const cached = deps.nodes.get(name);
    if (cached !== undefined) return nodeFacts(cached);
    if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return unknownNode;
    const read = reads.get(name) ?? liveReadNode(deps.client, name, signal);
    reads.set(name, read);
    return read;
  };
};

/** By the word of the server. What it cannot tell just now is not gone. */
export const liveReadNode = async (
  client: Pick<Client, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<NodeFacts> => {
  try {
    return nodeFacts(await client.get(nodeResource, { name }, { signal }));
  } catch (error) {
    if (isKubeError(error, 'notFound')) return { kind: 'gone' };
    if (isKubeError(error, 'aborted')) throw error;
    return unknownNode;
  }
};
