import { type Client, isKubeError, type Live, nodes as nodeResource, pods as podResource } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { hasEnded, nodeFacts, podFacts, poolFacts, unbound, unheard } from './facts.ts';
import { accountsOf, type PoolCaches, podsOf } from './indexes.ts';
import type { PoolMemory } from './memory.ts';
import type { Pod, ServiceAccount } from './objects.ts';
import type { NodeFacts, Snapshot } from './snapshot.ts';

export interface Observer extends PoolCaches {
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
  observer: Observer,
  memory: PoolMemory,
  github: Snapshot['github'],
  signal: AbortSignal,
): Promise<Observation> => {
  const { pool } = memory;
  const pods = await podsAsKnown(observer, memory, signal);
  const nodeOf = createNodeLook(observer, signal);
  const facts = await Promise.all(
    pods.map(async (pod) => podFacts(pod, pool.spec.image, await nodeOf(pod), memory.offline)),
  );
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const accounts = accountsOf(observer, pool.metadata.uid);
  return {
    snapshot: {
      now: observer.clock.now(),
      pool: poolFacts(pool),
      pods: facts,
      idleAccounts: accounts.map(({ metadata }) => metadata.name).filter((name) => !names.has(name)),
      github,
    },
    pods: new Map(pods.map((pod) => [pod.metadata.uid, pod])),
    accounts: new Map(accounts.map((account) => [account.metadata.name, account])),
  };
};

const podsAsKnown = async (
  observer: Observer,
  { pods: overlay, pool }: PoolMemory,
  signal: AbortSignal,
): Promise<Live<Pod>[]> => {
  const { uid, namespace = '' } = pool.metadata;
  const { pods, inDoubt } = overlay.over(podsOf(observer, uid));
  if (inDoubt.length === 0) return pods;
  for (const name of inDoubt) {
    try {
      overlay.made(await observer.client.get(podResource, { namespace, name }, { signal }));
    } catch (error) {
      if (!isKubeError(error, 'notFound')) throw error;
      overlay.notMade(name);
    }
  }
  return overlay.over(podsOf(observer, uid)).pods;
};

/** Asks for each Node once. Pods that have ended, or are being deleted, need nothing of theirs. */
const createNodeLook = (observer: Observer, signal: AbortSignal) => {
  const looks = new Map<string, Promise<NodeFacts>>();
  return (pod: Live<Pod>): NodeFacts | Promise<NodeFacts> => {
    const name = pod.spec?.nodeName;
    if (name === undefined) return unbound(pod);
    const cached = observer.nodes.get(name);
    if (cached !== undefined) return nodeFacts(cached);
    if (hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return unheard;
    const look = looks.get(name) ?? lookAtNode(observer.client, name, signal);
    looks.set(name, look);
    return look;
  };
};

/** By the word of the server. What it cannot tell just now is not gone. */
export const lookAtNode = async (
  client: Pick<Client, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<NodeFacts> => {
  try {
    return nodeFacts(await client.get(nodeResource, { name }, { signal }));
  } catch (error) {
    if (isKubeError(error, 'notFound')) return { kind: 'gone' };
    if (isKubeError(error, 'aborted')) throw error;
    return unheard;
  }
};
