import { type EventReason, events, type RunnerPoolStatus } from '@tartan/api';
import { getCondition, type Happening, isTrue } from '@tartan/kube';

export const happening = (reason: EventReason, detail: string): Happening => {
  const [type, means] = events[reason];
  return { type, reason, message: `${means} ${detail}` };
};

/** What has begun with this status. */
export const happeningsOf = (before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): Happening[] => {
  if (isTrue(before?.conditions, 'Stuck') || !isTrue(after.conditions, 'Stuck')) return [];
  return [happening('RunnerPodStuck', getCondition(after.conditions, 'Stuck')?.message ?? '')];
};
