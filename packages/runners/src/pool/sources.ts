import { isDeepStrictEqual } from 'node:util';
import { kindNames, type RunnerPool } from '@tartan/api';
import {
  fromCache,
  itsOwnKey,
  keyOfController,
  type Live,
  type Matters,
  type Source,
  specChanged,
  type WatchCache,
} from '@tartan/kube';
import { nodeFacts, podFacts, unbound } from './facts.ts';
import { type PoolCaches, podsOn } from './indexes.ts';
import type { Node, Pod } from './objects.ts';

const keysOfPool = keyOfController(kindNames.runnerPool);

/** What our own writes to the status change is no news. */
const poolMatters: Matters<RunnerPool> = specChanged;

/** Where the runners belong, and as what. The rest of a pool is of no interest to whoever only speaks to GitHub. */
export const githubChanged: Matters<RunnerPool> = (change) =>
  change.type !== 'changed' ||
  !isDeepStrictEqual(
    [change.object.spec.github, change.object.spec.runnerLabels],
    [change.previous.spec.github, change.previous.spec.runnerLabels],
  );

/** Agents write Pods often: addresses, images, times. News is what somebody decides by. */
const podMatters: Matters<Pod> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(whatCounts(change.object), whatCounts(change.previous));
const whatCounts = (pod: Live<Pod>) => [podFacts(pod, '', unbound(pod)), pod.spec?.nodeName];

/** Nodes say even more: that they live, every few seconds. */
const nodeMatters: Matters<Node> = (change) =>
  change.type === 'removed' ||
  (change.type === 'changed' && !isDeepStrictEqual(nodeFacts(change.object), nodeFacts(change.previous)));

export interface PoolSources extends PoolCaches {
  pools: Pick<WatchCache<RunnerPool>, 'subscribe'>;
}

/** Whatever may change what is to be done for a pool. */
export const poolSources = (caches: PoolSources): Source[] => [
  fromCache(caches.pools, itsOwnKey, poolMatters),
  fromCache(caches.pods, keysOfPool, podMatters),
  fromCache(caches.accounts, keysOfPool, (change) => change.type !== 'changed'),
  fromCache(
    caches.nodes,
    ({ metadata }) => podsOn(caches, metadata.name).flatMap((pod) => [...keysOfPool(pod)]),
    nodeMatters,
  ),
];
