import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  groupByState,
  hasReported,
  isAlive,
  isNodeReady,
  isOnDrainingNode,
  isSilent,
  isUnschedulable,
  livePods,
  missingCount,
  type PodState,
  podStateOf,
  reportsNoJob,
  statusGroupsOf,
} from './pod-state.ts';
import type { PodFacts } from './snapshot.ts';
import {
  ago,
  busy,
  cordonedMac,
  ended,
  goneMac,
  pending,
  retired,
  notReadyMac,
  terminating,
  unregistered,
  unschedulable,
  unscheduled,
  warm,
} from './testing/snapshots.ts';

const table: [string, PodFacts, PodState][] = [
  ['waits for a job', warm('a'), 'idle'],
  ['waits for a job on a Mac that is not Ready', warm('a', { node: notReadyMac }), 'busy'],
  ['has a job', busy('a'), 'busy'],
  ['has a job by its marker only', busy('a', { phase: 'pending' }), 'busy'],
  ['runs and has not reported', warm('a', { job: 'unknown' }), 'busy'],
  ['has a runner and no VM yet', pending('a'), 'idle'],
  ['has a runner and no VM yet, on a Mac that is not Ready', pending('a', { node: notReadyMac }), 'busy'],
  ['has no runner', unregistered('a'), 'unregistered'],
  ['has no runner, on a Mac that is not Ready', unregistered('a', { node: notReadyMac }), 'unregistered'],
  ['has no Mac', unscheduled('a'), 'unregistered'],
  ['has a runner and no Mac', unscheduled('a', { runnerID: 1 }), 'idle'],
  ['runs and is not marked with its runner', warm('a', { runnerID: undefined }), 'busy'],
  ['has a job and is not marked with its runner', unregistered('a', { job: 'started' }), 'busy'],
  ['is retired', retired('a', 1), 'retired'],
  ['is retired and has a job', retired('a', 1, { job: 'started' }), 'retired'],
  ['has ended', ended('a'), 'ended'],
  ['has ended, and was deleted', ended('a', { deletedAt: ago(1) }), 'terminating'],
  ['has ended on a Mac that is gone', ended('a', { node: goneMac }), 'ended'],
  ['was deleted', terminating('a'), 'terminating'],
  ['had a job on a Mac that is gone', busy('a', { node: goneMac }), 'lost'],
  ['was retired on a Mac that is gone', retired('a', 1, { node: goneMac }), 'lost'],
  ['was deleted on a Mac that is gone', terminating('a', { node: goneMac }), 'terminating'],
];

describe('a Pod that', () => {
  for (const [name, pod, standing] of table)
    it(`${name}: ${standing}`, () => {
      assert.equal(podStateOf(pod), standing);
    });
});

type Fact = 'ready' | 'no job' | 'silent' | 'alive' | 'reported' | 'draining' | 'unschedulable';
const factsOf = (pod: PodFacts): Fact[] => {
  const predicates: [Fact, (pod: PodFacts) => boolean][] = [
    ['ready', isNodeReady],
    ['no job', reportsNoJob],
    ['silent', isSilent],
    ['alive', isAlive],
    ['reported', hasReported],
    ['draining', isOnDrainingNode],
    ['unschedulable', isUnschedulable],
  ];
  return predicates.flatMap(([fact, holds]) => (holds(pod) ? [fact] : []));
};

const facts: [string, PodFacts, Fact[]][] = [
  ['waits for a job', warm('a'), ['ready', 'no job', 'alive', 'reported']],
  ['has a job', busy('a'), ['ready', 'alive', 'reported']],
  ['waits for a job on a Mac that is not Ready', warm('a', { node: notReadyMac }), ['alive', 'reported']],
  [
    'waits for a job on a cordoned Mac',
    warm('a', { node: cordonedMac }),
    ['ready', 'no job', 'alive', 'reported', 'draining'],
  ],
  ['is on a Mac that is gone', warm('a', { node: goneMac }), ['alive', 'reported']],
  ['runs, and has said nothing', warm('a', { job: 'unknown' }), ['ready', 'silent', 'alive']],
  ['runs, has said nothing, and has no runner', warm('a', { job: 'unknown', runnerID: undefined }), ['ready', 'alive']],
  ['runs, and its Mac is not Ready', warm('a', { job: 'unknown', node: notReadyMac }), ['alive']],
  ['has no machine yet', pending('a'), ['ready', 'no job', 'alive']],
  ['has no machine yet, but a job', pending('a', { job: 'started' }), ['ready', 'alive']],
  ['has no machine yet, and said that it has no job', pending('a', { job: 'none' }), ['ready', 'no job', 'alive']],
  ['has no Mac yet', unscheduled('a'), ['ready', 'no job', 'alive']],
  ['finds no Mac', unscheduled('a', { node: unschedulable }), ['ready', 'no job', 'alive', 'unschedulable']],
  ['was deleted', terminating('a'), ['ready', 'no job', 'reported']],
  ['has ended', ended('a', { job: 'unknown' }), ['ready']],
];

describe('the facts about a Pod that', () => {
  for (const [name, pod, expected] of facts)
    it(`${name}: ${expected.join(', ')}`, () => assert.deepEqual(factsOf(pod), expected));
});

describe('the Pods of a pool', () => {
  const silent = warm('silent', { job: 'unknown' });
  const unheard = warm('unheard', { node: notReadyMac });
  const retiredBusy = retired('retired-busy', 1, { job: 'started' });
  const retiredSilent = retired('retired-silent', 1, { job: 'unknown' });
  const all = {
    lost: [busy('lost', { node: goneMac })],
    retired: [retired('retired', 1), retiredBusy, retiredSilent],
    unregistered: [unregistered('unregistered')],
    idle: [warm('warm'), pending('pending')],
    busy: [busy('busy'), silent, unheard],
    terminating: [terminating('terminating')],
    ended: [ended('ended')],
  };
  const byState = groupByState(Object.values(all).flat());
  const uidsOf = (pods: readonly PodFacts[]): string[] => pods.map(({ uid }) => uid);

  it('are grouped by state, each in its order', () => {
    assert.deepEqual(byState, all);
    const empty = { terminating: [], ended: [], lost: [], retired: [], unregistered: [], idle: [], busy: [] };
    assert.deepEqual(groupByState([]), empty);
  });

  it('count as replicas unless they ended or are being deleted', () => {
    const { lost, retired: old, unregistered: made, idle, busy: working } = all;
    assert.deepEqual(livePods(byState), [...lost, ...old, ...made, ...idle, ...working]);
    assert.deepEqual(
      [0, 10, 11, 13].map((replicas) => missingCount(byState, replicas)),
      [0, 0, 1, 3],
    );
  });

  it('are counted in the status once each', () => {
    const { alive, ...groups } = statusGroupsOf(byState);
    assert.deepEqual(alive, livePods(byState));
    assert.deepEqual(Object.fromEntries(Object.entries(groups).map(([name, pods]) => [name, uidsOf(pods)])), {
      warm: ['warm'],
      busy: ['busy', 'unheard', 'retired-busy', 'retired-silent'],
      retiring: ['retired', 'lost'],
      starting: ['unregistered', 'pending', 'silent'],
    });
  });

  it('that said nothing on a Mac that is not Ready count as busy', () => {
    const pod = warm('a', { job: 'unknown', node: notReadyMac });
    assert.deepEqual(uidsOf(statusGroupsOf(groupByState([pod])).busy), ['a']);
  });
});
