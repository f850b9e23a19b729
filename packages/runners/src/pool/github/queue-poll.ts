import { done, type ReconcileResult, requeueAfter } from '@tartan/kube';
import type { PoolDeps } from '../act/context.ts';
import type { PoolMemories } from '../memory.ts';
import type { WaitingJobs } from '../status/conditions.ts';
import { githubAccessOf } from './health.ts';

/** GitHub is read at most twice in this time, for all pools of an installation and owner. */
const pollIntervalMs = 30_000;
/** An unchanged answer is written to the status again after this time. */
const maxUnchangedMs = 5 * 60_000;

/** Asks GitHub regularly which jobs wait for the runners of a pool. Calls `notify` when the answer has changed. */
export const pollQueue = async (
  deps: PoolDeps,
  memories: PoolMemories,
  key: string,
  notify: (key: string) => void,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const pool = deps.pools.get(key);
  if (pool?.spec.github === undefined || pool.metadata.deletionTimestamp !== undefined) return done;
  const memory = memories.of(pool);
  const access = await githubAccessOf(deps, memory, signal);
  const answer = await access.service()?.queue(memory.pool.spec.runnerLabels, { signal, maxAgeMs: pollIntervalMs / 2 });
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
