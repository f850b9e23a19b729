import { say } from '@tartan/api';
import { type Condition, type ConditionUpdate, getCondition } from '@tartan/kube';
import type { Counts } from './counts.ts';
import { counted, listed, since } from './words.ts';

/** Jobs at GitHub that wait for such runners. */
export interface WaitingJobs {
  readonly jobs: number;
  readonly oldestSince?: number;
  /** When GitHub was asked. */
  readonly observedAt: number;
}

/** So long GitHub may take to bring a job and a runner together. */
const patienceMs = 2 * 60_000;

/**
 * Whether jobs wait, and whose fault it is. Saturated: nobody is free. Starved: somebody is free, and was all the time.
 *
 * Nobody remembers since when a runner has been free. But while the oldest job waits, every look at which nobody was free has said
 * Saturated, which is True. So if the condition has not been True for a while, and the job has waited for as long, they have waited side by
 * side. A condition that says Starved stays so until one of them is gone.
 */
export const jobsWaitingOf = (
  queue: WaitingJobs | undefined,
  counts: Counts,
  previous: readonly Condition[] | undefined,
  now: number,
): ConditionUpdate => {
  if (queue === undefined) return say('RunnerPool', 'JobsWaiting', 'Unknown');
  if (queue.jobs === 0) return say('RunnerPool', 'JobsWaiting', 'NoneWaiting');
  const { warm, busy, starting, alive } = counts;
  const { jobs, oldestSince = queue.observedAt } = queue;
  const waiting = `${counted(jobs, 'job waits', 'jobs wait')}, the oldest ${since(oldestSince)}`;
  if (warm.length === 0) {
    const parts = [
      counted(busy.length, 'is busy', 'are busy'),
      starting.length > 0 && counted(starting.length, 'starts', 'start'),
    ];
    const message = `${waiting}. Of ${counted(alive.length, 'Pod')} ${listed(parts)}. More replicas, or more Macs, would help.`;
    return say('RunnerPool', 'JobsWaiting', 'Saturated', message);
  }
  const free = counted(warm.length, 'runner waits', 'runners wait');
  const side = `${waiting}, and ${free} for one`;
  const said = getCondition(previous, 'JobsWaiting');
  const isStarved =
    said?.reason === 'Starved' ||
    (said?.status === 'False' && isPast(Date.parse(said.lastTransitionTime), now) && isPast(oldestSince, now));
  return isStarved
    ? say(
        'RunnerPool',
        'JobsWaiting',
        'Starved',
        `${side}: GitHub does not bring them together. Look at labels and runner group.`,
      )
    : say('RunnerPool', 'JobsWaiting', 'NoneWaiting', `${side}: GitHub is about to bring them together.`);
};

const isPast = (since: number, now: number): boolean => now - since >= patienceMs;
