import { type Condition, type ConditionUpdate, setCondition } from '@tartan/kube';

interface Seen {
  readonly now: number;
  /** Of the object that they are said of. */
  readonly generation: number | undefined;
}

/** The conditions with these set; those of others stay. */
export const setConditions = (
  before: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  { now, generation }: Seen,
): readonly Condition[] =>
  updates.reduce<readonly Condition[]>(
    (all, update) =>
      setCondition(all, { ...update, ...(generation !== undefined && { observedGeneration: generation }) }, now),
    before ?? [],
  );
