import { getControllerOf, type pods } from '@tartan/kube';
import { selects } from '../selection/label-selector.ts';
import type { DrainBehavior, MachineDrainRule } from '../kinds.ts';
import { annotations, labels } from '../names.ts';

export type Pod = NonNullable<(typeof pods)['ofType']>;
type Labels = Readonly<Record<string, string>> | undefined;

/** What is known besides the Pod itself. */
export interface DrainFacts {
  readonly machineLabels: Labels;
  readonly clusterLabels: Labels;
  /** Of the Machine's namespace. */
  readonly rules: readonly MachineDrainRule[];
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  /** `namespace/name` of DaemonSets that are there. */
  readonly daemonSets: ReadonlySet<string>;
  /** The kubelet is not heard of: Pods that are to go will not go by themselves. */
  readonly unreachable: boolean;
  readonly now: number;
}

export interface Choice {
  readonly behavior: DrainBehavior;
  readonly order: number;
}

const skip: Choice = { behavior: 'Skip', order: 0 };

/** On an unreachable Node a Pod that has been terminating for longer is taken for gone. */
const patienceMs = 1_000;

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const ofLabel = (value: string | undefined): Choice | undefined => {
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
        (of) => selects(of.selector, facts.machineLabels) && selects(of.clusterSelector, facts.clusterLabels),
      )) &&
    (pods.length === 0 ||
      pods.some((of) => selects(of.selector, pod.metadata?.labels) && selects(of.namespaceSelector, namespaceLabels)))
  );
};

const ofRules = (pod: Pod, facts: DrainFacts): Choice | undefined => {
  const nameOf = ({ metadata }: MachineDrainRule): string => metadata?.name ?? '';
  const rule = facts.rules
    .filter((each) => ruleApplies(each, pod, facts))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))[0];
  const { behavior, order = 0 } = rule?.spec?.drain ?? {};
  // An order says when to evict; those that wait or stay have none.
  return behavior && { behavior, order: behavior === 'Drain' ? order : 0 };
};

/** What becomes of a Pod when its Node is drained. The first who has an opinion decides; nobody: it is evicted. */
export const chooseBehavior = (pod: Pod, facts: DrainFacts): Choice => {
  const { namespace = '', deletionTimestamp, annotations: notes = {}, labels: marks = {} } = pod.metadata ?? {};
  const terminatingMs = deletionTimestamp === undefined ? 0 : facts.now - Date.parse(deletionTimestamp);
  if (facts.unreachable && terminatingMs > patienceMs) return skip;
  const owner = getControllerOf(pod);
  if (owner?.kind === 'DaemonSet' && !isOver(pod) && facts.daemonSets.has(`${namespace}/${owner.name}`)) return skip;
  if (annotations.mirrorPod in notes) return skip;
  return ofLabel(marks[labels.drain]) ?? ofRules(pod, facts) ?? { behavior: 'Drain', order: 0 };
};
