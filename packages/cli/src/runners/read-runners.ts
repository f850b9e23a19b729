import { labels, runnerPool, type RunnerPool } from '@tartan/api';
import { isKubeError, type Live, pods } from '@tartan/kube';
import type { Cluster } from '../cluster/connection.ts';
import { listAll, listIfAllowed } from '../cluster/list.ts';
import { type Pod, type Selection, staleNote, type StateSource } from '../cluster/state.ts';
import { silentWatchCache, watchCaches } from '../cluster/watch-caches.ts';

export type Pool = Live<RunnerPool>;

/** Pools of runners at one moment. */
export interface RunnersState {
  readonly now: number;
  /** Undefined: the cluster does not know the kind. */
  readonly pools: readonly Pool[] | undefined;
  /** Of the pool that was named. Undefined: none was, or they may not be read. */
  readonly pods: readonly Pod[] | undefined;
  readonly notes: readonly string[];
}

const { resource } = runnerPool;

/** Pools say all that is shown of them; Pods are read of the pool that is named, and of no other. */
export const runnersSource = (pool: string | undefined): StateSource<RunnersState> => {
  const ofPool = { labelSelector: `${labels.runnerPool}=${pool ?? ''}` };
  return {
    read: async (cluster, { namespace }, signal) => {
      const scope = { signal, ...(namespace !== undefined && { namespace }) };
      const [pools, podList] = await Promise.all([
        readPools(cluster, scope),
        pool === undefined ? undefined : listIfAllowed(cluster, pods, { ...scope, ...ofPool }),
      ]);
      return {
        now: cluster.clock.now(),
        pools,
        pods: podList?.kind === 'listed' ? podList.items : undefined,
        notes: podList?.kind === 'unreadable' ? [podList.why] : [],
      };
    },
    watch: async (connection, { namespace }, first, { onChange, everyMs }, signal) => {
      // A kind that is not there brings no news.
      if (first.pools === undefined) return onChange(first);
      const scope = namespace === undefined ? {} : { namespace };
      const poolCache = silentWatchCache(connection, { resource, ...scope });
      const podCache = silentWatchCache(connection, { resource: pods, ...scope, ...ofPool });
      const followed = [poolCache, ...(first.pods === undefined ? [] : [podCache])];
      const tell = (behind: Error | undefined): void =>
        onChange({
          now: connection.clock.now(),
          pools: poolCache.list(),
          pods: first.pods && podCache.list(),
          notes: behind ? [...first.notes, staleNote(behind)] : first.notes,
        });
      await watchCaches(connection.clock, followed, { tell, everyMs }, signal);
    },
  };
};

/** `undefined`: there is no such kind, which is an answer as good as any. */
const readPools = async (
  cluster: Cluster,
  scope: Selection & { readonly signal: AbortSignal },
): Promise<readonly Pool[] | undefined> => {
  try {
    return await listAll(cluster, resource, scope);
  } catch (error) {
    if (error instanceof Error && isKubeError(error.cause, 'notFound')) return undefined;
    throw error;
  }
};
