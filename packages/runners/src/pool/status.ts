import { buildDetailedEvent, labels, type RunnerPoolStatus } from '@tartan/api';
import {
  type Condition,
  type ConditionUpdate,
  type EventInput,
  getCondition,
  isConditionTrue,
  setConditions,
} from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { GitHubFailure } from './github/health.ts';
import { defaultLimits, type Limits, stuckPods } from './limits.ts';
import type { PoolMemory } from './memory.ts';
import { groupByState, statusGroupsOf } from './pod-state.ts';
import type { Snapshot } from './snapshot.ts';
import {
  githubReachableCondition,
  jobsWaitingCondition,
  readyCondition,
  stuckCondition,
  type WaitingJobs,
} from './status/conditions.ts';
import { runnerOutdatedCondition, runnerVersionStatusOf } from './status/runner-version.ts';

/** The events of the change between two statuses. */
export const statusEvents = (before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): EventInput[] => {
  if (isConditionTrue(before?.conditions, 'Stuck') || !isConditionTrue(after.conditions, 'Stuck')) return [];
  return [buildDetailedEvent('RunnerPodStuck', getCondition(after.conditions, 'Stuck')?.message ?? '')];
};

/**
 * The status of a pool without `finished` and `reaped`, which `recordFinished` writes.
 *
 * Guarantees: the same inputs give the same status, so that a pass without changes writes nothing. Zeros are written.
 */
export const statusOf = (
  { pool, queue, newestRunner }: Pick<PoolMemory, 'pool' | 'queue' | 'newestRunner'>,
  snapshot: Snapshot,
  /** The last failure of GitHub. */
  failure: GitHubFailure | undefined,
  limits: Limits = defaultLimits,
): RunnerPoolStatus => {
  const { name, generation: observedGeneration = 0 } = pool.metadata;
  const { status: previous } = pool;
  const { pods, now } = snapshot;
  const { hasGitHub } = snapshot.pool;
  const byState = groupByState(pods);
  const counts = statusGroupsOf(byState);
  const stuck = stuckPods(pods, now, limits);
  const stale = counts.alive.filter(({ isStale }) => isStale).length;
  // Keeps the previous image until no Pod has another image than the pool.
  const observedImage = stale === 0 ? pool.spec.image : previous?.observedImage;
  const reported = counts.alive.flatMap(({ runnerVersion }) => runnerVersion ?? []);
  const runner = runnerVersionStatusOf(previous?.runner, reported, newestRunner, now);
  const updates: ConditionUpdate[] = [
    readyCondition(snapshot, byState, counts),
    ...(hasGitHub ? [githubReachableCondition(failure)] : []),
    jobsWaitingCondition(queue, counts, previous?.conditions, now),
    stuckCondition(stuck),
    ...(hasGitHub ? [runnerOutdatedCondition(runner, now)] : []),
  ];
  return {
    observedGeneration,
    replicas: counts.alive.length,
    selector: `${labels.runner}=true,${labels.runnerPool}=${name}`,
    warm: counts.warm.length,
    busy: counts.busy.length,
    retiring: counts.retiring.length,
    stale,
    stuck: stuck.length,
    ...(stuck[0] && { oldestStuckSince: timestamp(stuck[0].since) }),
    reaped: previous?.reaped ?? 0,
    ...(previous?.finished && { finished: previous.finished }),
    ...(queue && { queue: queueOf(queue) }),
    ...(runner && { runner }),
    ...(observedImage !== undefined && { observedImage }),
    conditions: setConditions(withoutStale(previous?.conditions ?? [], updates), updates, observedGeneration, now),
  };
};

/** Drops conditions that do not apply any more, such as those about GitHub of a pool without `spec.github`. */
const withoutStale = (conditions: readonly Condition[], updates: readonly ConditionUpdate[]): readonly Condition[] =>
  conditions.filter(({ type }) => updates.some((update) => update.type === type));

const queueOf = ({ jobs, oldestSince, observedAt }: WaitingJobs): NonNullable<RunnerPoolStatus['queue']> => ({
  jobs,
  ...(oldestSince !== undefined && { oldestSince: timestamp(oldestSince) }),
  observedAt: timestamp(observedAt),
});
