import { labels, type RunnerPoolStatus } from '@tartan/api';
import { type Condition, type ConditionUpdate, setCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { type GitHubProblem, githubReachableOf, stuckOf } from './conditions.ts';
import { countsOf } from './counts.ts';
import { jobsWaitingOf, type WaitingJobs } from './jobs-waiting.ts';
import { type Limits, usualLimits } from './limits.ts';
import { ranksOf } from './ranks.ts';
import { readyOf } from './ready.ts';
import { runnerAgeOf, runnerOutdatedOf } from './runner-age.ts';
import type { Snapshot } from './snapshot.ts';
import { stuckIn } from './stuck.ts';

/** What is said of a pool beside its Pods. */
export interface About {
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
  about: About,
  limits: Limits = usualLimits,
): RunnerPoolStatus => {
  const { pods, pool, now } = snapshot;
  const { generation: observedGeneration, queue } = about;
  const ranks = ranksOf(pods);
  const counts = countsOf(ranks);
  const stuck = stuckIn(pods, now, limits);
  const stale = counts.alive.filter(({ isStale }) => isStale).length;
  // While somebody lives with another image, the last one that all had is still being rolled away.
  const observedImage = stale === 0 ? about.image : previous?.observedImage;
  const reported = counts.alive.flatMap(({ runnerVersion }) => runnerVersion ?? []);
  const runner = runnerAgeOf(previous?.runner, reported, about.newestRunner, now);
  const updates: ConditionUpdate[] = [
    readyOf(snapshot, ranks, counts),
    ...(pool.hasGitHub ? [githubReachableOf(about.github)] : []),
    jobsWaitingOf(queue, counts, previous?.conditions, now),
    stuckOf(stuck),
    ...(pool.hasGitHub ? [runnerOutdatedOf(runner, now)] : []),
  ];
  return {
    observedGeneration,
    replicas: counts.alive.length,
    selector: `${labels.runner}=true,${labels.runnerPool}=${about.name}`,
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
    conditions: updates.reduce<readonly Condition[]>(
      (conditions, update) => setCondition(conditions, { ...update, observedGeneration }, now),
      stillSaid(previous?.conditions ?? [], updates),
    ),
  };
};

/** Without what nobody says any more: of a GitHub that is not named nothing is known. */
const stillSaid = (conditions: readonly Condition[], updates: readonly ConditionUpdate[]): readonly Condition[] =>
  conditions.filter(({ type }) => updates.some((update) => update.type === type));

const queueOf = ({ jobs, oldestSince, observedAt }: WaitingJobs): NonNullable<RunnerPoolStatus['queue']> => ({
  jobs,
  ...(oldestSince !== undefined && { oldestSince: timestamp(oldestSince) }),
  observedAt: timestamp(observedAt),
});
