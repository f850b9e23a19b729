import { labels, runnerPool, type RunnerPool } from '@tartan/api';
import { isKubeError, type Live, pods } from '@tartan/kube';
import type { Cluster } from '../cluster/connection.ts';
import { listAll, listIfAllowed } from '../cluster/list.ts';
import type { Pod, Selection } from '../cluster/state.ts';

export type Pool = Live<RunnerPool>;

export interface RunnersState {
  readonly now: number;
  /** Undefined: the kind is not installed. */
  readonly pools: readonly Pool[] | undefined;
  /** Of the named pool. Undefined: no pool is named, or the user may not read Pods. */
  readonly pods: readonly Pod[] | undefined;
  readonly notes: readonly string[];
}

/** All RunnerPools, and the Pods of the named one. */
export const readRunners = async (
  cluster: Cluster,
  { namespace, pool }: Selection & { readonly pool: string | undefined },
  signal: AbortSignal,
): Promise<RunnersState> => {
  const scope = { signal, namespace };
  const ofPool = { ...scope, labelSelector: `${labels.runnerPool}=${pool ?? ''}` };
  const [pools, podList] = await Promise.all([
    readPools(cluster, scope),
    pool === undefined ? undefined : listIfAllowed(cluster, pods, ofPool),
  ]);
  return { now: cluster.clock.now(), pools, pods: podList?.items, notes: podList?.notes ?? [] };
};

/** Undefined: the kind is not installed. */
const readPools = async (
  cluster: Cluster,
  scope: Selection & { readonly signal: AbortSignal },
): Promise<readonly Pool[] | undefined> => {
  try {
    return await listAll(cluster, runnerPool.resource, scope);
  } catch (error) {
    if (error instanceof Error && isKubeError(error.cause, 'notFound')) return undefined;
    throw error;
  }
};
