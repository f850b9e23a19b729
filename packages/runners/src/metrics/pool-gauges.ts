import { runnerMetricNames as names } from '@tartan/api';
import type { StateGauge } from '@tartan/kube';
import { capOf, inFlightOf } from '../pool/roll.ts';
import type { PodFacts } from '../pool/snapshot.ts';
import type { PoolState } from './pool-state.ts';

/** Labels that a gauge has beside those of its pool. */
type More = Readonly<Record<string, string>>;
type Set = (value: number, more?: More) => void;

/** Figures about each pool and its Pods. */
export const measurePools = (gauge: StateGauge<readonly PoolState[]>): void => {
  const perPool = (name: string, help: string, tell: (state: PoolState, set: Set) => void, ...more: string[]): void =>
    gauge(name, help, ['namespace', 'pool', ...more], (measured) => (states) => {
      for (const state of states) {
        const { namespace = '', name: pool } = state.pool.metadata;
        tell(state, (value, labels) => measured.set({ namespace, pool, ...labels }, value));
      }
    });

  perPool(
    names.pods,
    'Pods of a pool: state is starting, warm (waits for a job), busy (has one, or may), retiring (gets none any more), ended or terminating.',
    ({ ranks, counts: { starting, warm, busy, retiring } }, set) => {
      const states = { starting, warm, busy, retiring, ended: ranks.ended, terminating: ranks.going };
      for (const [state, found] of Object.entries(states)) set(found.length, { state });
    },
    'state',
  );
  perPool(names.wantedReplicas, 'Pods that a pool shall have.', ({ facts }, set) => set(facts.replicas));
  perPool(names.stalePods, 'Pods that live and have another image than is wanted.', (state, set) =>
    set(staleIn(state)),
  );
  perPool(
    names.rollingPods,
    'Places of a pool without a warm runner because of a roll. Above the cap: somebody else took Pods away.',
    (state, set) => set(staleIn(state) === 0 ? 0 : inFlightOf(state.ranks, state.facts)),
  );
  perPool(names.rollConcurrencyCap, 'How many such places there may be.', ({ facts }, set) => set(capOf(facts)));
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

const staleIn = ({ counts }: PoolState): number => counts.alive.filter(({ isStale }) => isStale).length;

/** Who waits for a Mac is not meant: for that there is the condition Ready with the reason NoRoom. */
const isUnbooted = ({ phase, deletedAt, node }: PodFacts): boolean =>
  phase === 'pending' && deletedAt === undefined && node.kind === 'there';

const ageOfOldest = (pods: readonly PodFacts[], sinceOf: (pod: PodFacts) => number | undefined, now: number): number =>
  Math.max(0, ...pods.map((pod) => now - (sinceOf(pod) ?? now))) / 1000;

const secondsSince = (time: string | undefined, now: number): number =>
  time === undefined ? 0 : Math.max(0, now - Date.parse(time)) / 1000;
