import { runnerMetricNames as names, type RunnerPool } from '@tartan/api';
import type { Informer, ScrapeGauge } from '@tartan/kube';
import { groupByState, statusGroupsOf } from '../pool/pod-state.ts';
import { rollCap, rollInFlight } from '../pool/scale-down.ts';
import { cachedNodeFacts, type Node, type Pod, podFacts, type PodFacts, poolFacts } from '../pool/snapshot.ts';

export type PoolState = ReturnType<typeof poolStates>[number];

/** Facts about all pools, from caches only: a scrape must not wait for the server. */
export const poolStates = (
  {
    pools,
    pods,
    nodes,
  }: {
    readonly pools: Pick<Informer<RunnerPool>, 'list'>;
    readonly pods: Pick<Informer<Pod>, 'byIndex'>;
    readonly nodes: Pick<Informer<Node>, 'get'>;
  },
  now: number,
) =>
  pools.list().map((pool) => {
    const facts = pods
      .byIndex('pool', pool.metadata.uid)
      .map((pod) => podFacts(pod, pool.spec.image, cachedNodeFacts(nodes, pod) ?? { kind: 'gone' }));
    const byState = groupByState(facts);
    return { pool, facts: poolFacts(pool), pods: facts, byState, counts: statusGroupsOf(byState), now };
  });

type SetGauge = (value: number, labels?: Readonly<Record<string, string>>) => void;

/** Figures about each pool and its Pods. */
export const registerPoolGauges = (gauge: ScrapeGauge<readonly PoolState[]>): void => {
  const perPool = (
    name: string,
    help: string,
    fill: (state: PoolState, set: SetGauge) => void,
    ...labels: string[]
  ): void =>
    gauge(name, help, ['namespace', 'pool', ...labels], (measured, states) => {
      for (const state of states) {
        const { namespace = '', name: pool } = state.pool.metadata;
        fill(state, (value, more) => measured.set({ namespace, pool, ...more }, value));
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
    'Replicas of a pool without a warm runner because of a rollout. Above the cap: another client deleted Pods.',
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

/** A Pod that waits for a Mac does not count: the reason NoRoom of the condition Ready is about that. */
const isUnbooted = ({ phase, deletedAt, node }: PodFacts): boolean =>
  phase === 'pending' && deletedAt === undefined && node.kind === 'exists';

const ageOfOldest = (pods: readonly PodFacts[], sinceOf: (pod: PodFacts) => number | undefined, now: number): number =>
  Math.max(0, ...pods.map((pod) => now - (sinceOf(pod) ?? now))) / 1000;

const secondsSince = (time: string | undefined, now: number): number =>
  time === undefined ? 0 : Math.max(0, now - Date.parse(time)) / 1000;
