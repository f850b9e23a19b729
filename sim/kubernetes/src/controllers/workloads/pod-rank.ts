import { conditionOf, type Pod } from '../shapes.ts';

/** Which Pods go first when there are too many: those that are missed least. */

const phases = ['Pending', 'Unknown', 'Running'];

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

const costOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[costAnnotation] ?? 0) || 0;

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

const readySince = (pod: Pod): number => Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '') || 0;

interface Ranked {
  pod: Pod;
  /** How many of its siblings share its Node. */
  neighbours: number;
}

const compare = (a: Ranked, b: Ranked): number => {
  const [one, other] = [a.pod, b.pod];
  const ready = Number(isReady(one)) - Number(isReady(other));
  return (
    Number(Boolean(one.spec.nodeName)) - Number(Boolean(other.spec.nodeName)) ||
    phases.indexOf(one.status?.phase ?? '') - phases.indexOf(other.status?.phase ?? '') ||
    ready ||
    costOf(one) - costOf(other) ||
    b.neighbours - a.neighbours ||
    readySince(other) - readySince(one) ||
    Date.parse(other.metadata.creationTimestamp) - Date.parse(one.metadata.creationTimestamp) ||
    (one.metadata.uid < other.metadata.uid ? -1 : 1)
  );
};

/** `count` of the Pods, the most dispensable first. */
export const dispensable = (pods: readonly Pod[], count: number): Pod[] => {
  const perNode = Map.groupBy(pods, (pod) => pod.spec.nodeName ?? '');
  return pods
    .map((pod) => ({ pod, neighbours: pod.spec.nodeName ? (perNode.get(pod.spec.nodeName)?.length ?? 0) : 0 }))
    .sort(compare)
    .slice(0, count)
    .map(({ pod }) => pod);
};
