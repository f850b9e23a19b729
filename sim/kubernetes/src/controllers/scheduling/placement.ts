import type { Pod } from '../shapes.ts';
import { type Place, type Refusal, refusal } from './filters.ts';
import { namedNodes } from './node-affinity.ts';

export type Placement = { node: string } | { unschedulable: string };

const histogram = (reasons: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
};

/** The words of kube-scheduler. Nobody is put off a Node here, so preemption never helps. */
const explain = (refusals: readonly Refusal[]): string => {
  const none = `0/${refusals.length} nodes are available:`;
  const preemption = refusals.map(({ final }) =>
    final ? 'Preemption is not helpful for scheduling' : 'No preemption victims found for incoming pod',
  );
  const why = histogram(refusals.flatMap(({ reasons }) => reasons));
  return `${none} ${why}. no new claims to deallocate, preemption: ${none} ${histogram(preemption)}.`;
};

const notNamed: Refusal = { reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"], final: true };

/** Where a Pod goes: of the Nodes that take it the one with the fewest Pods, then the first by name. */
export const place = (pod: Pod, places: readonly Place[]): Placement => {
  if (places.length === 0) return { unschedulable: 'no nodes available to schedule pods' };
  const named = namedNodes(pod);
  if (named?.size === 0) {
    return { unschedulable: `0/${places.length} nodes are available: pod affinity terms conflict. not found` };
  }
  const judged = places.map((candidate) => ({
    candidate,
    refused: named && !named.has(candidate.node.metadata.name) ? notNamed : refusal(pod, candidate),
  }));
  const [best] = judged
    .filter(({ refused }) => refused === undefined)
    .map(({ candidate }) => ({ name: candidate.node.metadata.name, count: candidate.pods.length }))
    .sort((a, b) => a.count - b.count || (a.name < b.name ? -1 : 1));
  return best ? { node: best.name } : { unschedulable: explain(judged.flatMap(({ refused }) => refused ?? [])) };
};
