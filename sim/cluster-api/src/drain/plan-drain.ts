import { chooseBehavior, type DrainFacts, type Pod } from './choose-behavior.ts';

/** What is left to do on a Node before it is empty. Keys are `namespace/name`. */
export interface DrainPlan {
  readonly evict: readonly string[];
  /** Their turn comes when those of a lower order are gone. */
  readonly evictLater: readonly string[];
  readonly terminating: readonly string[];
  readonly waitCompleted: readonly string[];
  readonly waitLater: readonly string[];
}

const keyOfPod = ({ metadata }: Pod): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;

/**
 * Pods of the lowest order go first, those that are waited for among them. One that is waited for is never evicted, and is waited
 * for until its object is gone: that it has succeeded is not looked at.
 */
export const planDrain = (pods: readonly Pod[], facts: DrainFacts): DrainPlan => {
  const chosen = pods
    .map((pod) => ({ pod, key: keyOfPod(pod), ...chooseBehavior(pod, facts) }))
    .filter(({ behavior }) => behavior !== 'Skip')
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const first = Math.min(...chosen.map(({ order }) => order));
  const isTerminating = ({ pod }: (typeof chosen)[number]): boolean => pod.metadata?.deletionTimestamp !== undefined;
  const keys = (holds: (each: (typeof chosen)[number]) => boolean): string[] =>
    chosen.filter(holds).map(({ key }) => key);
  return {
    evict: keys((each) => each.behavior === 'Drain' && !isTerminating(each) && each.order === first),
    evictLater: keys((each) => each.behavior === 'Drain' && !isTerminating(each) && each.order !== first),
    terminating: keys((each) => each.behavior === 'Drain' && isTerminating(each)),
    waitCompleted: keys((each) => each.behavior === 'WaitCompleted' && each.order === first),
    waitLater: keys((each) => each.behavior === 'WaitCompleted' && each.order !== first),
  };
};

export const isDrained = (plan: DrainPlan): boolean => Object.values(plan).every((keys) => keys.length === 0);

/** At most three are named: a condition is read by people. */
const list = (keys: readonly string[]): string =>
  `Pod${keys.length > 1 ? 's' : ''} ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? `, … (${keys.length - 3} more)` : ''}`;

/** Why the drain goes on, as the condition says it. */
export const drainMessage = (plan: DrainPlan, startedAt: string, failures: ReadonlyMap<string, string>): string => {
  const going = [...plan.terminating, ...plan.evict.filter((key) => !failures.has(key))].sort();
  const lines: readonly [readonly string[], string][] = [
    [going, 'deletionTimestamp set, but still not removed from the Node'],
    ...[...failures].map(([key, why]): [readonly string[], string] => [[key], `failed to evict Pod, ${why}`]),
    [plan.waitCompleted, 'waiting for completion'],
    [[...plan.evictLater, ...plan.waitLater], 'waiting for Pods of a lower order'],
  ];
  return [
    `Drain not completed yet (started at ${startedAt}):`,
    ...lines.filter(([keys]) => keys.length > 0).map(([keys, text]) => `* ${list(keys)}: ${text}`),
  ].join('\n');
};
