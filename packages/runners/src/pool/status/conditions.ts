import { buildCondition, type ConditionReason } from '@tartan/api';
import { type Condition, type ConditionUpdate, getCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { GitHubFailure } from '../github/health.ts';
import type { StuckPod } from '../limits.ts';
import { isNodeReady, isUnschedulable, type PodsByState, type StatusGroups } from '../pod-state.ts';
import { rollCap, rollInFlight } from '../scale-down.ts';
import type { PodFacts, Snapshot } from '../snapshot.ts';

/** Messages have times and no ages: a message with an age would be written in every pass. */

const pluralize = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** False: there are none. */
const pluralizeSome = ({ length }: readonly unknown[], one: string, many: string): string | false =>
  length > 0 && pluralize(length, one, many);

const sinceText = (at: number): string => `since ${timestamp(at)}`;

/** `a, b and c`, without those that are false. */
const joinWords = (parts: readonly (string | false)[]): string => {
  const all = parts.filter((part) => part !== false);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1) ?? ''}`;
};

export const githubReachableCondition = (failure: GitHubFailure | undefined): ConditionUpdate => {
  if (failure === undefined) return buildCondition('RunnerPool', 'GitHubReachable', 'Reachable');
  const { reason, message, retryAt } = failure;
  // The time of a back-off changes with every attempt: each would write the status.
  const again = reason === 'RateLimited' ? ` Not asked again before ${timestamp(retryAt)}.` : '';
  return buildCondition('RunnerPool', 'GitHubReachable', reason, `${message}${again}`);
};

const stuckTexts = {
  terminating: {
    reason: 'PodsStuckTerminating',
    one: 'still there after its deletion',
    many: 'still there after their deletion',
    advice: 'Look at the agent of its Node.',
  },
  unbooted: {
    reason: 'PodsNeverStarted',
    one: 'on a Mac without a virtual machine',
    many: 'on a Mac without a virtual machine',
    advice: 'Look at what it waits for: kubectl describe pod.',
  },
  silent: {
    reason: 'PodsSilent',
    one: 'running without a word of its runner',
    many: 'running without a word of their runners',
    advice: 'Is the runner script in the image?',
  },
} as const satisfies Record<StuckPod['kind'], object>;

/** The reason and the advice are about the oldest. */
export const stuckCondition = (stuck: readonly StuckPod[]): ConditionUpdate => {
  const [oldest] = stuck;
  if (oldest === undefined) return buildCondition('RunnerPool', 'Stuck', 'NoneStuck');
  const parts = Object.entries(stuckTexts).map(([kind, { one, many }]) =>
    pluralizeSome(
      stuck.filter((each) => each.kind === kind),
      one,
      many,
    ),
  );
  const { reason, advice } = stuckTexts[oldest.kind];
  const message = `Pods: ${joinWords(parts)}. The oldest is ${oldest.pod.name}, ${sinceText(oldest.since)}. ${advice}`;
  return buildCondition('RunnerPool', 'Stuck', reason, message);
};

const ready = (reason: ConditionReason<'RunnerPool', 'Ready'>, message: string): ConditionUpdate =>
  buildCondition('RunnerPool', 'Ready', reason, message);

/** The first reason that applies counts. */
export const readyCondition = (snapshot: Snapshot, byState: PodsByState, counts: StatusGroups): ConditionUpdate => {
  const { pool, github } = snapshot;
  const { alive } = counts;
  const stale = alive.filter(({ isStale }) => isStale);
  const summary = describePods(counts);
  if (pool.isDeleting) return ready('Deleting', `${summary}${deletionBlockedBy(snapshot, byState)}`);
  if (!pool.hasGitHub)
    return ready('NoGitHub', 'The GitHub organization or repository of the runners is unknown: set spec.github.');
  const working = counts.warm.length + counts.busy.length;
  if (stale.length === 0 && alive.length === pool.replicas && working === pool.replicas && !alive.some(isNodeNotReady))
    return ready('Converged', pool.replicas === 0 ? 'No runners are wanted.' : summary);
  const wanted = describeReplicas(pool.replicas);
  if (github === 'unusable') return ready('GitHubUnavailable', `${summary} They stay. ${wanted} See GitHubReachable.`);
  if (alive.length > pool.replicas) return ready('Draining', `${summary} ${wanted} Those with a job finish it.`);
  if (stale.length > 0) return ready('Rolling', describeRoll(snapshot, byState, stale));
  const unschedulable = counts.starting.filter(isUnschedulable);
  if (unschedulable.length > 0) return ready('NoRoom', `${summary} ${describeUnschedulable(unschedulable)} ${wanted}`);
  return ready('Filling', `${summary} ${wanted}${describeNotReadyNodes(alive)}`);
};

const describeReplicas = (replicas: number): string => `${pluralize(replicas, 'is', 'are')} wanted.`;

const isNodeNotReady = (pod: PodFacts): boolean => !isNodeReady(pod);

/** `3 Pods: 2 wait for a job and 1 has one or may have one.` */
const describePods = ({ alive, warm, busy, starting, retiring }: StatusGroups): string => {
  if (alive.length === 0) return 'There are no Pods.';
  const parts = [
    pluralizeSome(warm, 'waits for a job', 'wait for a job'),
    pluralizeSome(busy, 'is busy', 'are busy'),
    pluralizeSome(starting, 'starts', 'start'),
    pluralizeSome(retiring, 'is about to go', 'are about to go'),
  ];
  return `${pluralize(alive.length, 'Pod')}: ${joinWords(parts)}.`;
};

const deletionBlockedBy = ({ github }: Snapshot, { idle }: PodsByState): string =>
  github === 'unusable' && idle.length > 0
    ? ` ${pluralize(idle.length, 'Pod')} without a job can only go when GitHub answers: see GitHubReachable.`
    : '';

const describeRoll = ({ pool }: Snapshot, byState: PodsByState, stale: readonly PodFacts[]): string => {
  const busy = byState.busy.filter(({ isStale }) => isStale).length;
  const finishing = busy > 0 ? ` ${pluralize(busy, 'is busy, and finishes', 'are busy, and finish')} first.` : '';
  const flight = `Being replaced: ${rollInFlight(byState, pool)}, at most ${rollCap(pool)} at a time`;
  return `${stale.length} of ${pool.replicas} have another image.${finishing} ${flight}.${describeNotReadyNodes(stale)}`;
};

const describeUnschedulable = (unschedulable: readonly PodFacts[]): string => {
  const [first] = [...unschedulable].sort((a, b) => (a.boundAt ?? a.createdAt) - (b.boundAt ?? b.createdAt));
  const oldest = first === undefined ? '' : `, ${first.name} ${sinceText(first.boundAt ?? first.createdAt)}`;
  return `For ${pluralize(unschedulable.length, 'Pod')} there is no room on the Macs of the fleet${oldest}: it takes more Macs, or fewer replicas.`;
};

const describeNotReadyNodes = (pods: readonly PodFacts[]): string => {
  const names = pods
    .filter(isNodeNotReady)
    .map(({ name }) => name)
    .sort();
  return names.length === 0
    ? ''
    : ` On a Mac that does not answer: ${names[0] ?? ''}${names.length > 1 ? ` and ${names.length - 1} more` : ''}.`;
};

/** Jobs at GitHub that wait for such runners. */
export interface WaitingJobs {
  readonly jobs: number;
  readonly oldestSince?: number;
  /** When GitHub was asked. */
  readonly observedAt: number;
}

/** How long GitHub may take to assign a job to a free runner. */
const matchGracePeriodMs = 2 * 60_000;

/**
 * Whether jobs wait, and why. Saturated: no runner is free. Starved: a runner was free all the time.
 *
 * The time since when a runner has been free is not stored. But a pass without a free runner while a job waits sets Saturated, which is
 * True. So if the condition has not been True for the grace period, and the job has waited for as long, a runner was free meanwhile.
 * Starved stays until no job waits or no runner is free.
 */
export const jobsWaitingCondition = (
  queue: WaitingJobs | undefined,
  counts: StatusGroups,
  previous: readonly Condition[] | undefined,
  now: number,
): ConditionUpdate => {
  if (queue === undefined) return buildCondition('RunnerPool', 'JobsWaiting', 'Unknown');
  if (queue.jobs === 0) return buildCondition('RunnerPool', 'JobsWaiting', 'NoneWaiting');
  const { warm, busy, starting, alive } = counts;
  const { jobs, oldestSince = queue.observedAt } = queue;
  const waiting = `${pluralize(jobs, 'job waits', 'jobs wait')}, the oldest ${sinceText(oldestSince)}`;
  if (warm.length === 0) {
    const parts = [pluralize(busy.length, 'is busy', 'are busy'), pluralizeSome(starting, 'starts', 'start')];
    const message = `${waiting}. Of ${pluralize(alive.length, 'Pod')} ${joinWords(parts)}. More replicas, or more Macs, would help.`;
    return buildCondition('RunnerPool', 'JobsWaiting', 'Saturated', message);
  }
  const free = pluralize(warm.length, 'runner waits', 'runners wait');
  const side = `${waiting}, and ${free} for one`;
  const said = getCondition(previous, 'JobsWaiting');
  const isStarved =
    said?.reason === 'Starved' ||
    (said?.status === 'False' &&
      isGracePeriodOver(Date.parse(said.lastTransitionTime), now) &&
      isGracePeriodOver(oldestSince, now));
  return isStarved
    ? buildCondition(
        'RunnerPool',
        'JobsWaiting',
        'Starved',
        `${side}: GitHub does not bring them together. Look at labels and runner group.`,
      )
    : buildCondition('RunnerPool', 'JobsWaiting', 'NoneWaiting', `${side}: GitHub is about to bring them together.`);
};

const isGracePeriodOver = (start: number, now: number): boolean => now - start >= matchGracePeriodMs;
