import { kindNames } from '@tartan/api';
import { getController, type KubeObject, type Live, type WatchCache } from '@tartan/kube';
import type { Node, Pod, ServiceAccount } from './objects.ts';

/** A look at one pool costs what it has, not what all have. `pool`: the UID of the RunnerPool that made it. */
const byPool = (object: KubeObject): string[] => {
  const owner = getController(object);
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
  pods: Pick<WatchCache<Pod>, 'byIndex' | 'subscribe'>;
  accounts: Pick<WatchCache<ServiceAccount>, 'byIndex' | 'subscribe'>;
  nodes: Pick<WatchCache<Node>, 'get' | 'subscribe'>;
}

export const podsOf = (caches: Pick<PoolCaches, 'pods'>, uid: string): Live<Pod>[] => caches.pods.byIndex('pool', uid);
export const podsOn = (caches: Pick<PoolCaches, 'pods'>, node: string): Live<Pod>[] =>
  caches.pods.byIndex('node', node);
export const accountsOf = (caches: Pick<PoolCaches, 'accounts'>, uid: string): Live<ServiceAccount>[] =>
  caches.accounts.byIndex('pool', uid);
