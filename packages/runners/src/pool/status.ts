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
import { defaultLimits, type Limits, stuckPods } from './limits.ts';
import { groupByState, statusGroupsOf } from './pod-state.ts';
import type { Snapshot } from './snapshot.ts';
import {
  type GitHubProblem,
  githubReachableCondition,
  jobsWaitingCondition,
  readyCondition,
  stuckCondition,
  type WaitingJobs,
} from './status/conditions.ts';
import { runnerOutdatedCondition, runnerVersionStatusOf } from './status/runner-version.ts';

/** What has begun with this status. */
export const statusEvents = (before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): EventInput[] => {
  if (isConditionTrue(before?.conditions, 'Stuck') || !isConditionTrue(after.conditions, 'Stuck')) return [];
  return [buildDetailedEvent('RunnerPodStuck', getCondition(after.conditions, 'Stuck')?.message ?? '')];
};

/** What is said of a pool beside its Pods. */
export interface StatusInputs {
  /** Of the pool. */
  readonly name: string;
  readonly image: string;
  readonly generation: number;
  /** What went wrong when GitHub was asked last. Undefined: nothing. */
  readonly github: GitHubProblem | undefined;
  /** Jobs that wait for such runners. Undefined: GitHub did not tell. */
  readonly queue: WaitingJobs | undefined;
  /** The newest release of the runner. Undefined: GitHub did not tell. */
  readonly newestRunner: string | undefined;
}

/**
 * All that users see of a pool. Who has ended is not its business: `finished` and `reaped` stay as they are, see `recordFinished`.
 *
 * Guarantees: the same world gives the same status, whatever the time, but for what is about time. A zero is said.
 */
export const statusOf = (
  previous: RunnerPoolStatus | undefined,
  snapshot: Snapshot,
  inputs: StatusInputs,
  limits: Limits = defaultLimits,
): RunnerPoolStatus => {
  const { pods, pool, now } = snapshot;
  const { generation: observedGeneration, queue } = inputs;
  const byState = groupByState(pods);
  const counts = statusGroupsOf(byState);
  const stuck = stuckPods(pods, now, limits);
  const stale = counts.alive.filter(({ isStale }) => isStale).length;
  // While somebody lives with another image, the last one that all had is still being rolled away.
  const observedImage = stale === 0 ? inputs.image : previous?.observedImage;
  const reported = counts.alive.flatMap(({ runnerVersion }) => runnerVersion ?? []);
  const runner = runnerVersionStatusOf(previous?.runner, reported, inputs.newestRunner, now);
  const updates: ConditionUpdate[] = [
    readyCondition(snapshot, byState, counts),
    ...(pool.hasGitHub ? [githubReachableCondition(inputs.github)] : []),
    jobsWaitingCondition(queue, counts, previous?.conditions, now),
    stuckCondition(stuck),
    ...(pool.hasGitHub ? [runnerOutdatedCondition(runner, now)] : []),
  ];
  return {
    observedGeneration,
    replicas: counts.alive.length,
    selector: `${labels.runner}=true,${labels.runnerPool}=${inputs.name}`,
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

/** Without what nobody says any more: of a GitHub that is not named nothing is known. */
const withoutStale = (conditions: readonly Condition[], updates: readonly ConditionUpdate[]): readonly Condition[] =>
  conditions.filter(({ type }) => updates.some((update) => update.type === type));

const queueOf = ({ jobs, oldestSince, observedAt }: WaitingJobs): NonNullable<RunnerPoolStatus['queue']> => ({
  jobs,
  ...(oldestSince !== undefined && { oldestSince: timestamp(oldestSince) }),
  observedAt: timestamp(observedAt),
});
