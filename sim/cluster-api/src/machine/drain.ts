import { getControllerOf, type pods } from '@tartan/kube';
import type { DrainBehavior, MachineDrainRule } from '../kinds.ts';
import { selectorMatches } from '../label-selector.ts';
import { annotations, labels } from '../names.ts';

export type Pod = NonNullable<(typeof pods)['ofType']>;
type Labels = Readonly<Record<string, string>> | undefined;

/** Facts beside the Pod itself. */
export interface DrainFacts {
  readonly machineLabels: Labels;
  readonly clusterLabels: Labels;
  /** Of the Machine's namespace. */
  readonly rules: readonly MachineDrainRule[];
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  /** `namespace/name` of existing DaemonSets. */
  readonly daemonSets: ReadonlySet<string>;
  /** The kubelet is unreachable: deleted Pods do not terminate. */
  readonly unreachable: boolean;
  readonly now: number;
}

interface PodDrainBehavior {
  readonly behavior: DrainBehavior;
  readonly order: number;
}

const skip: PodDrainBehavior = { behavior: 'Skip', order: 0 };

/** On an unreachable Node a Pod that has been terminating for longer counts as gone. */
const unreachableTerminatingMs = 1_000;

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const behaviorOfLabel = (value: string | undefined): PodDrainBehavior | undefined => {
  switch ((value ?? '').replace('-', '').toLowerCase()) {
    case 'skip':
      return skip;
    case 'waitcompleted':
      return { behavior: 'WaitCompleted', order: 0 };
    default:
      return undefined;
  }
};

const ruleApplies = ({ spec }: MachineDrainRule, pod: Pod, facts: DrainFacts): boolean => {
  const { machines = [], pods = [] } = spec ?? {};
  const namespaceLabels = facts.namespaceLabels.get(pod.metadata?.namespace ?? '');
  return (
    (machines.length === 0 ||
      machines.some(
        (of) =>
          selectorMatches(of.selector, facts.machineLabels) && selectorMatches(of.clusterSelector, facts.clusterLabels),
      )) &&
    (pods.length === 0 ||
      pods.some(
        (of) =>
          selectorMatches(of.selector, pod.metadata?.labels) && selectorMatches(of.namespaceSelector, namespaceLabels),
      ))
  );
};

const behaviorOfRules = (pod: Pod, facts: DrainFacts): PodDrainBehavior | undefined => {
  const nameOf = ({ metadata }: MachineDrainRule): string => metadata?.name ?? '';
  const rule = facts.rules
    .filter((each) => ruleApplies(each, pod, facts))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))[0];
  const { behavior, order = 0 } = rule?.spec?.drain ?? {};
  // Only Pods to drain have an order.
  return behavior && { behavior, order: behavior === 'Drain' ? order : 0 };
};

/** The drain behaviour of a Pod. The first rule that applies decides; the default is to evict it. */
const chooseBehavior = (pod: Pod, facts: DrainFacts): PodDrainBehavior => {
  const { namespace = '', deletionTimestamp, annotations: notes = {}, labels: marks = {} } = pod.metadata ?? {};
  const terminatingMs = deletionTimestamp === undefined ? 0 : facts.now - Date.parse(deletionTimestamp);
  if (facts.unreachable && terminatingMs > unreachableTerminatingMs) return skip;
  const owner = getControllerOf(pod);
  if (owner?.kind === 'DaemonSet' && !isFinished(pod) && facts.daemonSets.has(`${namespace}/${owner.name}`))
    return skip;
  if (annotations.mirrorPod in notes) return skip;
  return behaviorOfLabel(marks[labels.drain]) ?? behaviorOfRules(pod, facts) ?? { behavior: 'Drain', order: 0 };
};

/** The remaining work of a drain. Keys are `namespace/name`. */
export interface DrainPlan {
  readonly evict: readonly string[];
  /** Evicted after those of a lower order are gone. */
  readonly evictLater: readonly string[];
  readonly terminating: readonly string[];
  readonly waitCompleted: readonly string[];
  readonly waitLater: readonly string[];
}

const keyOfPod = ({ metadata }: Pod): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;

/**
 * Pods of the lowest order come first, including those that are waited for. A Pod that is waited for is never evicted, and the wait ends
 * only when its object is gone, even if it has succeeded.
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

/** Names at most three, because people read the condition. */
const printPods = (keys: readonly string[]): string =>
  `Pod${keys.length > 1 ? 's' : ''} ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? `, … (${keys.length - 3} more)` : ''}`;

/** Why the drain is not complete, for the condition. */
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
    ...lines.filter(([keys]) => keys.length > 0).map(([keys, text]) => `* ${printPods(keys)}: ${text}`),
  ].join('\n');
};
