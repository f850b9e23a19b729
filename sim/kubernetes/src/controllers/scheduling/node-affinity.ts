import type { Node, NodeSelectorTerm, Pod, Requirement } from '../shapes.ts';

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

/** The only field is the name, compared with exactly one value. */
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

/** Whether the Pod's node selector and required node affinity take that Node. */
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

/** The Nodes that the affinity names outright; undefined when it leaves that open. None at all: its terms contradict themselves. */
export const namedNodes = (pod: Pod): Set<string> | undefined => {
  let names: Set<string> | undefined;
  for (const term of requiredTerms(pod) ?? []) {
    const listed = namesIn(term);
    if (!listed) return undefined;
    names = names ? names.union(listed) : listed;
  }
  return names;
};
