import type { Stage } from './stage.ts';

/** What the pool says of itself. */
export const reasonOf = async (stage: Stage, type: string): Promise<string | undefined> =>
  (await stage.pool())?.status?.conditions?.find((condition) => condition.type === type)?.reason;

export const namesOf = async (stage: Stage): Promise<string[]> =>
  (await stage.pods()).map(({ metadata }) => metadata.name).sort();

export const countsOf = async (stage: Stage) => {
  const { replicas, warm, busy, retiring, stale } = (await stage.pool())?.status ?? {};
  return { replicas, warm, busy, retiring, stale };
};
