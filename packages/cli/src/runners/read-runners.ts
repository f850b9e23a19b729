import { labels, runnerPool, type RunnerPool } from '@tartan/api';
import { isKubeError, type Live, pods } from '@tartan/kube';
import type { Cluster } from '../cluster/connection.ts';
import { listAll, listIfAllowed } from '../cluster/list.ts';
import { type Pod, type Selection, staleNote, type StateSource } from '../cluster/state.ts';
import { createSilentInformer, watchInformers } from '../cluster/watch-informers.ts';

export type Pool = Live<RunnerPool>;

export interface RunnersState {
  readonly now: number;
  /** Undefined: the kind is not installed. */
  readonly pools: readonly Pool[] | undefined;
  /** Of the named pool. Undefined: no pool is named, or the user may not read Pods. */
  readonly pods: readonly Pod[] | undefined;
  readonly notes: readonly string[];
}

const { resource } = runnerPool;

/** All RunnerPools, and the Pods of the named one. */
export const runnersSource = (pool: string | undefined): StateSource<RunnersState> => {
  const ofPool = { labelSelector: `${labels.runnerPool}=${pool ?? ''}` };
  return {
    read: async (cluster, { namespace }, signal) => {
      const scope = { signal, namespace };
      const [pools, podList] = await Promise.all([
        readPools(cluster, scope),
        pool === undefined ? undefined : listIfAllowed(cluster, pods, { ...scope, ...ofPool }),
      ]);
      return { now: cluster.clock.now(), pools, pods: podList?.items, notes: podList?.notes ?? [] };
    },
    watch: async (connection, { namespace }, first, { onChange, everyMs }, signal) => {
      // A kind that is not installed cannot be watched.
      if (first.pools === undefined) return onChange(first);
      const scope = namespace === undefined ? {} : { namespace };
      const poolInformer = createSilentInformer(connection, { resource, ...scope });
      const podInformer = createSilentInformer(connection, { resource: pods, ...scope, ...ofPool });
      const watched = [poolInformer, ...(first.pods === undefined ? [] : [podInformer])];
      const update = (error: Error | undefined): void =>
        onChange({
          now: connection.clock.now(),
          pools: poolInformer.list(),
          pods: first.pods && podInformer.list(),
          notes: error ? [...first.notes, staleNote(error)] : first.notes,
        });
      await watchInformers(connection.clock, watched, { update, everyMs }, signal);
    },
  };
};

/** Undefined: the kind is not installed. */
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
