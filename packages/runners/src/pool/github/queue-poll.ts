import type { RunnerPool } from '@tartan/api';
import { done, type Informer, type ReconcileResult, requeueAfter } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMemories } from '../memory.ts';
import type { WaitingJobs } from '../status/conditions.ts';
import { githubAccessOf } from './health.ts';
import type { ServiceForPool } from './service-for-pool.ts';

export interface QueuePollDeps {
  pools: Pick<Informer<RunnerPool>, 'get'>;
  serviceForPool: ServiceForPool;
  clock: Clock;
}

const pollIntervalMs = 30_000;
/** When nothing has changed, nothing is written for so long. */
const maxUnchangedMs = 5 * 60_000;

/** Asks GitHub now and then which jobs wait for the runners of a pool. `tell`: somebody should say so. */
export const pollQueue = async (
  deps: QueuePollDeps,
  memories: PoolMemories,
  key: string,
  notify: (key: string) => void,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const pool = deps.pools.get(key);
  if (pool?.spec.github === undefined || pool.metadata.deletionTimestamp !== undefined) return done;
  const memory = memories.of(pool);
  const { service } = (await githubAccessOf(deps, memory, signal))();
  const answer = await service?.queue(memory.pool.spec.runnerLabels, { signal });
  const next = answer?.kind === 'known' ? { ...answer.queue, observedAt: deps.clock.now() } : undefined;
  if (!isChanged(memory.queue, next)) return requeueAfter(pollIntervalMs);
  memory.queue = next;
  notify(key);
  return requeueAfter(pollIntervalMs);
};

const isChanged = (before: WaitingJobs | undefined, after: WaitingJobs | undefined): boolean =>
  before === undefined || after === undefined
    ? before !== after
    : before.jobs !== after.jobs ||
      before.oldestSince !== after.oldestSince ||
      after.observedAt - before.observedAt >= maxUnchangedMs;
