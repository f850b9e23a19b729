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

/** `pool`: the UID of the RunnerPool that owns the object. */
const byPool = (object: KubeObject): string[] => {
  const owner = getControllerOf(object);
  return owner?.kind === kindNames.runnerPool.kind ? [owner.uid] : [];
};

export const podIndexes = {
  pool: byPool,
  node: ({ spec }: Live<Pod>): string[] => (spec?.nodeName === undefined ? [] : [spec.nodeName]),
};

export const accountIndexes = { pool: byPool };

export interface PoolCaches {
  pools: Pick<Informer<RunnerPool>, 'get' | 'subscribe'>;
  pods: Pick<Informer<Pod>, 'byIndex' | 'subscribe'>;
  accounts: Pick<Informer<ServiceAccount>, 'byIndex' | 'subscribe'>;
  nodes: Pick<Informer<Node>, 'get' | 'subscribe'>;
}

const keysOfPool = requestForOwner(kindNames.runnerPool);

/** Additions, removals, and changes of these facts. */
const changeOf =
  <T extends KubeObject>(factsOf: (object: Live<T>) => unknown): Predicate<T> =>
  (change) =>
    change.type !== 'changed' || !isDeepStrictEqual(factsOf(change.object), factsOf(change.previous));

/** Everything that calls to GitHub depend on: where the runners are registered, and with which labels. */
export const githubChanged = changeOf<RunnerPool>(({ spec }) => [spec.github, spec.runnerLabels]);

/** Agents write Pods often: addresses, images, times. Only facts that decisions use trigger a reconcile. */
const podChanged = changeOf<Pod>((pod) => [podFacts(pod, '', unscheduledNode(pod)), pod.spec?.nodeName]);

/** Nodes change every few seconds because of heartbeats. */
const nodeChanged = changeOf<Node>(nodeFacts);

/** All that the plan for a pool depends on. */
export const poolSources = (caches: PoolCaches): Source[] => [
  // Our own writes of the status do not change the generation.
  fromInformer(caches.pools, requestForObject, generationChanged),
  fromInformer(caches.pods, keysOfPool, podChanged),
  fromInformer(caches.accounts, keysOfPool, (change) => change.type !== 'changed'),
  fromInformer(
    caches.nodes,
    ({ metadata }) => caches.pods.byIndex('node', metadata.name).flatMap((pod) => [...keysOfPool(pod)]),
    (change) => change.type !== 'added' && nodeChanged(change),
  ),
];

/**
 * Delays keys a little, and drops duplicates meanwhile. A pass costs time for each Pod of the pool, and Pods change in bursts: five hundred
 * that end at once would otherwise cause five hundred passes.
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
