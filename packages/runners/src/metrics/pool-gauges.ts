import { runnerMetricNames as names, type RunnerPool } from '@tartan/api';
import type { Live, ScrapeGauge } from '@tartan/kube';
import { groupByState, type PodsByState, type StatusGroups, statusGroupsOf } from '../pool/pod-state.ts';
import { rollCap, rollInFlight } from '../pool/scale-down.ts';
import {
  type Node,
  nodeFacts,
  type NodeFacts,
  type Pod,
  podFacts,
  type PodFacts,
  poolFacts,
  type PoolFacts,
  unscheduledNode,
} from '../pool/snapshot.ts';

/** One pool, as the caches of this process have it. */
export interface PoolState {
  readonly pool: Live<RunnerPool>;
  readonly facts: PoolFacts;
  readonly pods: readonly PodFacts[];
  readonly byState: PodsByState;
  readonly counts: StatusGroups;
  readonly now: number;
}

interface PoolStateCaches {
  readonly pools: { list(): readonly Live<RunnerPool>[] };
  readonly pods: { byIndex(index: 'pool', uid: string): readonly Live<Pod>[] };
  readonly nodes: { get(name: string): Live<Node> | undefined };
}

/** In the words in which it is decided, but without a question to the server: a scrape must not wait for it. */
export const poolStates = ({ pools, pods, nodes }: PoolStateCaches, now: number): readonly PoolState[] => {
  const nodeOf = (pod: Live<Pod>): NodeFacts => {
    const name = pod.spec?.nodeName;
    const node = name === undefined ? undefined : nodes.get(name);
    return node ? nodeFacts(node) : name === undefined ? unscheduledNode(pod) : { kind: 'gone' };
  };
  return pools.list().map((pool) => {
    const ours = pods.byIndex('pool', pool.metadata.uid);
    const facts = ours.map((pod) => podFacts(pod, pool.spec.image, nodeOf(pod)));
    const byState = groupByState(facts);
    return { pool, facts: poolFacts(pool), pods: facts, byState, counts: statusGroupsOf(byState), now };
  });
};

/** Labels that a gauge has beside those of its pool. */
type ExtraLabels = Readonly<Record<string, string>>;
type SetGauge = (value: number, more?: ExtraLabels) => void;

/** Figures about each pool and its Pods. */
export const registerPoolGauges = (gauge: ScrapeGauge<readonly PoolState[]>): void => {
  const perPool = (
    name: string,
    help: string,
    tell: (state: PoolState, set: SetGauge) => void,
    ...more: string[]
  ): void =>
    gauge(name, help, ['namespace', 'pool', ...more], (measured, states) => {
      for (const state of states) {
        const { namespace = '', name: pool } = state.pool.metadata;
        tell(state, (value, labels) => measured.set({ namespace, pool, ...labels }, value));
      }
    });

  perPool(
    names.pods,
    'Pods of a pool: state is starting, warm (waits for a job), busy (has one, or may), retiring (gets none any more), ended or terminating.',
    ({ byState, counts: { starting, warm, busy, retiring } }, set) => {
      const states = { starting, warm, busy, retiring, ended: byState.ended, terminating: byState.terminating };
      for (const [state, found] of Object.entries(states)) set(found.length, { state });
    },
    'state',
  );
  perPool(names.wantedReplicas, 'Pods that a pool shall have.', ({ facts }, set) => set(facts.replicas));
  perPool(names.stalePods, 'Pods that live and have another image than is wanted.', (state, set) =>
    set(staleCount(state)),
  );
  perPool(
    names.rollingPods,
    'Places of a pool without a warm runner because of a roll. Above the cap: somebody else took Pods away.',
    (state, set) => set(staleCount(state) === 0 ? 0 : rollInFlight(state.byState, state.facts)),
  );
  perPool(names.rollConcurrencyCap, 'How many such places there may be.', ({ facts }, set) => set(rollCap(facts)));
  perPool(
    names.oldestUnbootedSeconds,
    'For how long the oldest Pod that is on a Mac and has no virtual machine has been there. Zero: there is none.',
    ({ pods, now }, set) => set(ageOfOldest(pods.filter(isUnbooted), ({ boundAt }) => boundAt, now)),
  );
  perPool(
    names.oldestTerminatingSeconds,
    'For how long the oldest Pod that was deleted should have been gone: counted from the end of its grace. Zero: there is none.',
    ({ pods, now }, set) => set(ageOfOldest(pods, ({ deletedAt }) => deletedAt, now)),
  );
  perPool(
    names.queuedJobs,
    'Jobs at GitHub that ask for runners of the pool and have none. No series while GitHub does not tell.',
    ({ pool: { status } }, set) => status?.queue && set(status.queue.jobs),
  );
  perPool(
    names.oldestQueuedSeconds,
    'For how long the oldest of them has waited. Zero: none waits.',
    ({ pool: { status }, now }, set) => status?.queue && set(secondsSince(status.queue.oldestSince, now)),
  );
  perPool(
    names.condition,
    'The conditions of a pool: 1 for the status that each has, 0 for the others.',
    ({ pool: { status } }, set) => {
      for (const condition of status?.conditions ?? [])
        for (const each of ['True', 'False', 'Unknown'])
          set(each === condition.status ? 1 : 0, { type: condition.type, status: each });
    },
    'type',
    'status',
  );
};

const staleCount = ({ counts }: PoolState): number => counts.alive.filter(({ isStale }) => isStale).length;

/** Who waits for a Mac is not meant: for that there is the condition Ready with the reason NoRoom. */
const isUnbooted = ({ phase, deletedAt, node }: PodFacts): boolean =>
  phase === 'pending' && deletedAt === undefined && node.kind === 'exists';

const ageOfOldest = (pods: readonly PodFacts[], sinceOf: (pod: PodFacts) => number | undefined, now: number): number =>
  Math.max(0, ...pods.map((pod) => now - (sinceOf(pod) ?? now))) / 1000;

const secondsSince = (time: string | undefined, now: number): number =>
  time === undefined ? 0 : Math.max(0, now - Date.parse(time)) / 1000;
