import type { Node, Pod } from '../shapes.ts';
import { isTolerated } from '../taints.ts';
import { matchesNode } from './node-affinity.ts';
import { type Amounts, addTo, amountsOf, podRequests } from './requests.ts';

/** A Node and the unfinished Pods that are bound to it. */
export interface Place {
  node: Node;
  pods: readonly Pod[];
}

/** Why a Node does not take a Pod. `final`: not even if other Pods were put off it. */
export interface Refusal {
  reasons: string[];
  final: boolean;
}

const refuse = (reason: string): Refusal => ({ reasons: [reason], final: true });

const refuseUnschedulable = (pod: Pod, { node }: Place): Refusal | undefined => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  const cordoned = node.spec.unschedulable === true && !isTolerated(pod.spec.tolerations ?? [], taint);
  return cordoned ? refuse('node(s) were unschedulable') : undefined;
};

const refuseTainted = (pod: Pod, { node }: Place): Refusal | undefined => {
  const repelled = (node.spec.taints ?? []).some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !isTolerated(pod.spec.tolerations ?? [], taint),
  );
  return repelled ? refuse('node(s) had untolerated taint(s)') : undefined;
};

const refuseUnmatched = (pod: Pod, { node }: Place): Refusal | undefined =>
  matchesNode(pod, node) ? undefined : refuse("node(s) didn't match Pod's node affinity/selector");

const refuseFull = (pod: Pod, { node, pods }: Place): Refusal | undefined => {
  const allocatable = amountsOf(node.status?.allocatable);
  const used: Amounts = new Map();
  for (const other of pods) addTo(used, podRequests(other));
  const reasons: string[] = [];
  let final = false;
  if (BigInt(pods.length + 1) * 1_000_000_000n > (allocatable.get('pods') ?? 0n)) reasons.push('Too many pods');
  for (const [name, amount] of podRequests(pod)) {
    const capacity = allocatable.get(name) ?? 0n;
    if (name === 'pods' || amount <= 0n || amount <= capacity - (used.get(name) ?? 0n)) continue;
    reasons.push(`Insufficient ${name}`);
    if (amount > capacity) final = true;
  }
  return reasons.length > 0 ? { reasons, final } : undefined;
};

/** The first filter that refuses has the word. */
export const refusal = (pod: Pod, place: Place): Refusal | undefined =>
  refuseUnschedulable(pod, place) ?? refuseTainted(pod, place) ?? refuseUnmatched(pod, place) ?? refuseFull(pod, place);
