import { type Condition, type ConditionUpdate, setCondition } from '@tartan/kube';

/** The conditions with these set; those of others stay. */
export const setConditions = (
  before: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  now: number,
): readonly Condition[] =>
  updates.reduce<readonly Condition[]>((all, update) => setCondition(all, update, now), before ?? []);
