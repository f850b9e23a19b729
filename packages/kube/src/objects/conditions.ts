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

/** What a controller says; when it changed is for `setCondition` to find out. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime' | 'message'> & { message?: string };

const reasonPattern = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const typePattern = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const maxReasonLength = 1024;
const maxTypeLength = 316;
const maxMessageLength = 32_768;

/**
 * The conditions with this one set. Pure; idempotent; answers the very same array when nothing changes, whatever `now` is.
 *
 * Guarantees: `lastTransitionTime` moves only when `status` does. One condition per type, sorted by type, so that the same
 * conditions are always the same JSON. A message beyond the 32768 characters that the server takes is cut: it is often the
 * text of an error, and must not make the status unwritable.
 * Caveats: throws RangeError for a type or a reason that no server takes: those are constants of the program.
 */
export const setCondition = (
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  now: number,
): readonly Condition[] => {
  check('type', update.type, typePattern, maxTypeLength);
  check('reason', update.reason, reasonPattern, maxReasonLength);
  const before = conditions ?? [];
  const previous = getCondition(before, update.type);
  const next: Condition = {
    type: update.type,
    status: update.status,
    reason: update.reason,
    message: truncate(update.message ?? ''),
    lastTransitionTime:
      previous !== undefined && previous.status === update.status ? previous.lastTransitionTime : timestamp(now),
    ...(update.observedGeneration === undefined ? {} : { observedGeneration: update.observedGeneration }),
  };
  const after = [...before.filter(({ type }) => type !== update.type), next].sort(byType);
  return isDeepStrictEqual(before, after) ? before : after;
};

/** Sets each of them, with the generation that was observed. */
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

const check = (field: string, value: string, pattern: RegExp, longest: number): void => {
  if (value.length <= longest && pattern.test(value)) return;
  throw new RangeError(
    `The ${field} ${JSON.stringify(value.slice(0, 80))} of a condition is not one that Kubernetes takes: it must match ${pattern.source} and have at most ${longest} characters.`,
  );
};

/** The server counts code points, so does this. */
const truncate = (message: string): string => {
  if (message.length <= maxMessageLength) return message;
  const points = Array.from(message);
  return points.length <= maxMessageLength ? message : `${points.slice(0, maxMessageLength - 1).join('')}…`;
};

const byType = (a: Condition, b: Condition): number => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);
