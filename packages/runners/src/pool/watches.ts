import { isDeepStrictEqual } from 'node:util';
import { kindNames, type RunnerPool } from '@tartan/api';
import {
  fromInformer,
  generationChanged,
  getControllerOf,
  type Informer,
  type KubeObject,
  type Live,
  type Predicate,
  requestForObject,
  requestForOwner,
  type Source,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type Node, nodeFacts, type Pod, podFacts, type ServiceAccount, unscheduledNode } from './snapshot.ts';

/** A look at one pool costs what it has, not what all have. `pool`: the UID of the RunnerPool that made it. */
const byPool = (object: KubeObject): string[] => {
  const owner = getControllerOf(object);
  return owner?.kind === kindNames.runnerPool.kind ? [owner.uid] : [];
};

/** What the cache of Pods needs. */
export const podIndexes = {
  pool: byPool,
  node: ({ spec }: Live<Pod>): string[] => (spec?.nodeName === undefined ? [] : [spec.nodeName]),
};

/** What the cache of ServiceAccounts needs. */
export const accountIndexes = { pool: byPool };

export interface PoolCaches {
  pods: Pick<Informer<Pod>, 'byIndex' | 'subscribe'>;
  accounts: Pick<Informer<ServiceAccount>, 'byIndex' | 'subscribe'>;
  nodes: Pick<Informer<Node>, 'get' | 'subscribe'>;
}

export const podsOf = (caches: Pick<PoolCaches, 'pods'>, uid: string): Live<Pod>[] => caches.pods.byIndex('pool', uid);
const podsOn = (caches: Pick<PoolCaches, 'pods'>, node: string): Live<Pod>[] => caches.pods.byIndex('node', node);
export const accountsOf = (caches: Pick<PoolCaches, 'accounts'>, uid: string): Live<ServiceAccount>[] =>
  caches.accounts.byIndex('pool', uid);

const keysOfPool = requestForOwner(kindNames.runnerPool);

/** What our own writes to the status change is no news. */
const poolPredicate: Predicate<RunnerPool> = generationChanged;

/** Where the runners belong, and as what. The rest of a pool is of no interest to whoever only speaks to GitHub. */
export const githubChanged: Predicate<RunnerPool> = (change) =>
  change.type !== 'changed' ||
  !isDeepStrictEqual(
    [change.object.spec.github, change.object.spec.runnerLabels],
    [change.previous.spec.github, change.previous.spec.runnerLabels],
  );

/** Agents write Pods often: addresses, images, times. News is what somebody decides by. */
const podPredicate: Predicate<Pod> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(relevantFields(change.object), relevantFields(change.previous));
const relevantFields = (pod: Live<Pod>) => [podFacts(pod, '', unscheduledNode(pod)), pod.spec?.nodeName];

/** Nodes say even more: that they live, every few seconds. */
const nodePredicate: Predicate<Node> = (change) =>
  change.type === 'removed' ||
  (change.type === 'changed' && !isDeepStrictEqual(nodeFacts(change.object), nodeFacts(change.previous)));

export interface PoolSources extends PoolCaches {
  pools: Pick<Informer<RunnerPool>, 'subscribe'>;
}

/** Whatever may change what is to be done for a pool. */
export const poolSources = (caches: PoolSources): Source[] => [
  fromInformer(caches.pools, requestForObject, poolPredicate),
  fromInformer(caches.pods, keysOfPool, podPredicate),
  fromInformer(caches.accounts, keysOfPool, (change) => change.type !== 'changed'),
  fromInformer(
    caches.nodes,
    ({ metadata }) => podsOn(caches, metadata.name).flatMap((pod) => [...keysOfPool(pod)]),
    nodePredicate,
  ),
];

/**
 * The same keys, a moment later, and what comes meanwhile with them. A look costs as much as a pool has Pods, and Pods come in crowds: five
 * hundred that go at once would be five hundred looks.
 */
export const coalesced =
  (source: Source, clock: Clock, milliseconds: number): Source =>
  (enqueue, report) => {
    const waiting = new Map<string, () => void>();
    const end = source((key) => {
      if (waiting.has(key)) return;
      const deliver = (): void => {
        waiting.delete(key);
        enqueue(key);
      };
      waiting.set(key, clock.after(milliseconds, deliver));
    }, report);
    return () => {
      end();
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    };
  };
