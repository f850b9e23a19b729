import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../clock/clock.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** metav1.Condition. */
export interface Condition {
  type: string;
  status: ConditionStatus;
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** A condition as a controller sets it; `setCondition` determines the transition time. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime' | 'message'> & { message?: string };

const maxMessageLength = 32_768;

/**
 * Returns the conditions with this one set. Pure and idempotent; returns the same array when nothing changes, whatever
 * `now` is.
 *
 * Guarantees: `lastTransitionTime` changes only with `status`. One condition per type, sorted by type, so that equal
 * conditions have equal JSON. A message beyond the API's limit of 32768 characters is truncated: it is often an error
 * message, and must not make the status write fail.
 */
export const setCondition = (
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  now: number,
): readonly Condition[] => {
  const before = conditions ?? [];
  const previous = getCondition(before, update.type);
  const next: Condition = {
    ...update,
    message: truncate(update.message ?? ''),
    lastTransitionTime: previous?.status === update.status ? previous.lastTransitionTime : timestamp(now),
  };
  const after = [...before.filter(({ type }) => type !== update.type), next].sort(byType);
  return isDeepStrictEqual(before, after) ? before : after;
};

/** Sets each of them with the observed generation. */
export const setConditions = (
  conditions: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  generation: number | undefined,
  now: number,
): readonly Condition[] => {
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return updates.reduce<readonly Condition[]>(
    (before, update) => setCondition(before, { ...update, ...observed }, now),
    conditions ?? [],
  );
};

export const getCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  getCondition(conditions, type)?.status === 'True';

/** The server counts code points. */
const truncate = (message: string): string => {
  if (message.length <= maxMessageLength) return message;
  const points = Array.from(message);
  return points.length <= maxMessageLength ? message : `${points.slice(0, maxMessageLength - 1).join('')}…`;
};

const byType = (a: Condition, b: Condition): number => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
