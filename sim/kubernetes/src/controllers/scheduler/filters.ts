import { readQuantity } from '../../quantity.ts';
import { isTolerated } from '../node/tolerations.ts';
import type { Node, NodeSelectorTerm, Pod, Quantities, Requirement } from '../runtime/objects.ts';

const integer = /^[+-]?\d+$/;

const compare = (left: string | undefined, right: string | undefined): number | undefined => {
  if (left === undefined || right === undefined || !integer.test(left) || !integer.test(right)) return undefined;
  const difference = BigInt(left) - BigInt(right);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

const matchesLabel = (labels: Record<string, string>, { key, operator, values = [] }: Requirement): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values[0]) === 1;
    case 'Lt':
      return compare(value, values[0]) === -1;
    default:
      return false;
  }
};

/** The only supported field is the name, with exactly one value. */
const matchesField = (node: Node, { key, operator, values = [] }: Requirement): boolean => {
  if (values.length !== 1) return false;
  const same = key === 'metadata.name' && values[0] === node.metadata.name;
  return operator === 'In' ? same : operator === 'NotIn' ? !same : false;
};

const matchesTerm = (node: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length + matchFields.length > 0 &&
  matchExpressions.every((requirement) => matchesLabel(node.metadata.labels ?? {}, requirement)) &&
  matchFields.every((requirement) => matchesField(node, requirement));

const requiredTerms = (pod: Pod): NodeSelectorTerm[] | undefined =>
  pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

/** Whether the Pod's node selector and required node affinity match that Node. */
export const matchesNode = (pod: Pod, node: Node): boolean => {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const terms = requiredTerms(pod);
  return selected && (terms === undefined || terms.some((term) => matchesTerm(node, term)));
};

const namesIn = ({ matchFields = [] }: NodeSelectorTerm): Set<string> | undefined => {
  let names: Set<string> | undefined;
  for (const { key, operator, values } of matchFields) {
    if (key !== 'metadata.name' || operator !== 'In') continue;
    const listed = new Set(values);
    names = names ? names.intersection(listed) : listed;
  }
  return names;
};

/** The Nodes that the affinity names; undefined when a term names none. Empty: its terms contradict each other. */
export const namedNodes = (pod: Pod): Set<string> | undefined => {
  let names: Set<string> | undefined;
  for (const term of requiredTerms(pod) ?? []) {
    const listed = namesIn(term);
    if (!listed) return undefined;
    names = names ? names.union(listed) : listed;
  }
  return names;
};

/** Amounts by resource name, in units of 10⁻⁹. */
type Amounts = Map<string, bigint>;

const amountsOf = (quantities: Quantities | undefined): Amounts =>
  new Map(Object.entries(quantities ?? {}).map(([name, value]) => [name, readQuantity(String(value))?.nanos ?? 0n]));

const addTo = (sum: Amounts, amounts: Amounts): void => {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0n) + amount);
};

const raiseTo = (peak: Amounts, amounts: Amounts): void => {
  for (const [name, amount] of amounts) if (amount > (peak.get(name) ?? 0n)) peak.set(name, amount);
};

const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/**
 * The resource requests of a Pod. Containers run concurrently; init containers run before them, one after the other, except sidecars (init
 * containers with restartPolicy Always), which keep running. Pod-level requests replace those of the containers.
 */
export const podRequests = ({ spec }: Pod): Amounts => {
  const total: Amounts = new Map();
  for (const { resources } of spec.containers ?? []) addTo(total, amountsOf(resources?.requests));

  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const own = amountsOf(resources?.requests);
    if (restartPolicy === 'Always') {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(peak, sidecars);
    } else {
      addTo(own, sidecars);
      raiseTo(peak, own);
    }
  }
  raiseTo(total, peak);

  for (const [name, amount] of amountsOf(spec.resources?.requests)) if (isPodLevel(name)) total.set(name, amount);
  addTo(total, amountsOf(spec.overhead));
  return total;
};

/** A Node and the unfinished Pods that are bound to it. */
export interface NodeInfo {
  node: Node;
  pods: readonly Pod[];
}

/** Why a Pod does not fit on a Node. `final`: preemption would not help. */
export interface FilterFailure {
  reasons: string[];
  unresolvable: boolean;
}

const unresolvableFailure = (reason: string): FilterFailure => ({ reasons: [reason], unresolvable: true });

const filterUnschedulable = (pod: Pod, { node }: NodeInfo): FilterFailure | undefined => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  const cordoned = node.spec.unschedulable === true && !isTolerated(pod.spec.tolerations ?? [], taint);
  return cordoned ? unresolvableFailure('node(s) were unschedulable') : undefined;
};

const filterTaints = (pod: Pod, { node }: NodeInfo): FilterFailure | undefined => {
  const repelled = (node.spec.taints ?? []).some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !isTolerated(pod.spec.tolerations ?? [], taint),
  );
  return repelled ? unresolvableFailure('node(s) had untolerated taint(s)') : undefined;
};

const filterNodeAffinity = (pod: Pod, { node }: NodeInfo): FilterFailure | undefined =>
  matchesNode(pod, node) ? undefined : unresolvableFailure("node(s) didn't match Pod's node affinity/selector");

const filterResources = (pod: Pod, { node, pods }: NodeInfo): FilterFailure | undefined => {
  const allocatable = amountsOf(node.status?.allocatable);
  const used: Amounts = new Map();
  for (const other of pods) addTo(used, podRequests(other));
  const reasons: string[] = [];
  let unresolvable = false;
  if (BigInt(pods.length + 1) * 1_000_000_000n > (allocatable.get('pods') ?? 0n)) reasons.push('Too many pods');
  for (const [name, amount] of podRequests(pod)) {
    const capacity = allocatable.get(name) ?? 0n;
    if (name === 'pods' || amount <= 0n || amount <= capacity - (used.get(name) ?? 0n)) continue;
    reasons.push(`Insufficient ${name}`);
    if (amount > capacity) unresolvable = true;
  }
  return reasons.length > 0 ? { reasons, unresolvable } : undefined;
};

/** The first filter that fails decides. */
export const runFilters = (pod: Pod, place: NodeInfo): FilterFailure | undefined =>
  filterUnschedulable(pod, place) ??
  filterTaints(pod, place) ??
  filterNodeAffinity(pod, place) ??
  filterResources(pod, place);
