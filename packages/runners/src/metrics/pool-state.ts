import type { RunnerPool } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { type Counts, countsOf } from '../pool/counts.ts';
import { nodeFacts, podFacts, poolFacts, unbound } from '../pool/facts.ts';
import type { Node, Pod } from '../pool/objects.ts';
import { type Ranks, ranksOf } from '../pool/ranks.ts';
import type { NodeFacts, PodFacts, PoolFacts } from '../pool/snapshot.ts';

/** One pool, as the caches of this process have it. */
export interface PoolState {
  readonly pool: Live<RunnerPool>;
  readonly facts: PoolFacts;
  readonly pods: readonly PodFacts[];
  readonly ranks: Ranks;
  readonly counts: Counts;
  readonly now: number;
}

interface Caches {
  readonly pools: { list(): readonly Live<RunnerPool>[] };
  readonly pods: { byIndex(index: 'pool', uid: string): readonly Live<Pod>[] };
  readonly nodes: { get(name: string): Live<Node> | undefined };
}

/** In the words in which it is decided, but without a question to the server: a scrape must not wait for it. */
export const poolStates = ({ pools, pods, nodes }: Caches, now: number): readonly PoolState[] => {
  const nodeOf = (pod: Live<Pod>): NodeFacts => {
    const name = pod.spec?.nodeName;
    const node = name === undefined ? undefined : nodes.get(name);
    return node ? nodeFacts(node) : name === undefined ? unbound(pod) : { kind: 'gone' };
  };
  return pools.list().map((pool) => {
    const ours = pods.byIndex('pool', pool.metadata.uid);
    const facts = ours.map((pod) => podFacts(pod, pool.spec.image, nodeOf(pod)));
    const ranks = ranksOf(facts);
    return { pool, facts: poolFacts(pool), pods: facts, ranks, counts: countsOf(ranks), now };
  });
};
