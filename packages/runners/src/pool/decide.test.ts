import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, type Plan } from './decide.ts';
import type { Snapshot } from './snapshot.ts';
import {
  ago,
  busy,
  cordonedMac,
  ended,
  goneMac,
  mac,
  minute,
  now,
  pending,
  retired,
  notReadyMac,
  snapshotOf,
  stale,
  terminating,
  unregistered,
  unschedulable,
  unscheduled,
  warm,
} from './testing/snapshots.ts';

/** All actions of a plan: `create 2`, `register a`, `retire a (surplus)`, `remove a (settle period over)`, `reap a`. */
const sketch = (plan: Plan): string =>
  [
    plan.addFinalizer && 'add finalizer',
    plan.create > 0 && `create ${plan.create}`,
    ...plan.register.map((uid) => `register ${uid}`),
    ...plan.retire.map(({ uid, reason }) => `retire ${uid} (${reason})`),
    ...plan.remove.map(({ uid, reason }) => `remove ${uid} (${reason})`),
    ...plan.reap.map((uid) => `reap ${uid}`),
    ...plan.removeAccounts.map((name) => `delete account ${name}`),
    plan.removeFinalizer && 'remove finalizer',
  ]
    .filter(Boolean)
    .join(', ');

const unusable = { github: 'unusable' } as const;
const deleting = { isDeleting: true } as const;
const three = [warm('a', stale), warm('b', stale), warm('c', stale)];

const tables: Record<string, [string, Snapshot, string][]> = {
  'number of Pods': [
    ['as wanted', snapshotOf([warm('a'), busy('b')]), ''],
    ['none, and none wanted', snapshotOf([]), ''],
    ['too few', snapshotOf([warm('a')], { replicas: 3 }), 'create 2'],
    ['a finished Pod does not count', snapshotOf([ended('a'), warm('b')]), 'create 1, reap a'],
    [
      'finished Pods of the same age are reaped by UID',
      snapshotOf([ended('b'), ended('a')]),
      'create 2, reap a, reap b',
    ],
    ['a Pod being deleted does not count', snapshotOf([terminating('a'), warm('b')]), 'create 1'],
    ['a retired Pod counts until it has ended', snapshotOf([retired('a', 1), warm('b')]), ''],
    ['no Pod is created without GitHub settings', snapshotOf([], { replicas: 3, hasGitHub: false }, unusable), ''],
    ['Pods are created during an outage', snapshotOf([], { replicas: 1 }, unusable), 'create 1'],
    [
      'the finalizer is added before the first Pod',
      snapshotOf([], { replicas: 3, hasFinalizer: false }),
      'add finalizer',
    ],
    ['ServiceAccounts without a Pod are deleted', snapshotOf([], {}, { orphanedAccounts: ['x'] }), 'delete account x'],
  ],
  'which Pod is registered': [
    ['a Pod on a Mac', snapshotOf([unregistered('a')]), 'register a'],
    ['not a Pod without a Mac', snapshotOf([unscheduled('a')]), ''],
    ['not in an outage', snapshotOf([unregistered('a')], {}, unusable), ''],
    ['a running Pod without its annotation', snapshotOf([warm('a', { runnerID: undefined })]), 'register a'],
    ['not a surplus Pod', snapshotOf([unregistered('a')], { replicas: 0 }), 'remove a (never had a runner)'],
    [
      'a Pod with an old image that is not replaced yet',
      snapshotOf([unregistered('a', stale), unregistered('b')]),
      'register a, register b',
    ],
  ],
  'surplus Pods': [
    ['an idle Pod is retired', snapshotOf([warm('a'), busy('b')], { replicas: 1 }), 'retire a (surplus)'],
    ['no Pod with a job', snapshotOf([busy('a'), busy('b')], { replicas: 0 }), ''],
    ['no Pod with an unknown job state', snapshotOf([warm('a', { job: 'unknown' })], { replicas: 0 }), ''],
    ['no Pod on a Mac that is not Ready', snapshotOf([warm('a', { node: notReadyMac })], { replicas: 0 }), ''],
    ['no registered Pod during an outage', snapshotOf([warm('a')], { replicas: 0 }, unusable), ''],
    [
      'a Pod without a runner, also during an outage',
      snapshotOf([warm('a'), unregistered('b')], { replicas: 1 }, unusable),
      'remove b (never had a runner)',
    ],
    [
      'the least useful Pods',
      snapshotOf([warm('a'), pending('b'), warm('c', { createdAt: ago(1) })], { replicas: 1 }),
      'retire b (surplus), retire c (surplus)',
    ],
    ['retired Pods count as removed', snapshotOf([retired('a', 1), warm('b')], { replicas: 1 }), ''],
    [
      'Pods on a draining Mac count as removed',
      snapshotOf([warm('a', { node: cordonedMac }), pending('b')], { replicas: 1 }),
      'retire a (node drains)',
    ],
    [
      'Pods whose Mac is gone count as removed',
      snapshotOf([warm('a', { node: goneMac }), warm('b')], { replicas: 1 }),
      'remove a (node is gone)',
    ],
  ],
  'a draining Mac': [
    [
      'idle Pods are retired at once',
      snapshotOf([warm('a', { node: cordonedMac }), pending('b', { node: cordonedMac })]),
      'retire b (node drains), retire a (node drains)',
    ],
    [
      'a Pod without a runner is deleted',
      snapshotOf([unregistered('a', { node: cordonedMac })]),
      'remove a (never had a runner)',
    ],
    ['a Pod with a job finishes it', snapshotOf([busy('a', { node: cordonedMac })]), ''],
    [
      'no Pod on a Mac that is not Ready is retired',
      snapshotOf([warm('a', { node: mac({ isReady: false, isDraining: true }) })]),
      '',
    ],
    ['no Pod is retired during an outage', snapshotOf([warm('a', { node: cordonedMac })], {}, unusable), ''],
  ],
  'a new image': [
    ['one Pod at a time in a small pool', snapshotOf(three), 'retire a (stale image)'],
    [
      'as many Pods as the percentage allows',
      snapshotOf(three, { maxConcurrentPercent: 70 }),
      'retire a (stale image), retire b (stale image)',
    ],
    ['Pods with a job finish it', snapshotOf([busy('a', stale), warm('b', stale)]), 'retire b (stale image)'],
    ['the rollout waits for a retired Pod', snapshotOf([retired('a', 1, stale), warm('b', stale)]), ''],
    [
      'it does not wait for a retired Pod that got a job',
      snapshotOf([retired('a', 1, { ...stale, job: 'started' }), warm('b', stale)]),
      'retire b (stale image)',
    ],
    [
      'it waits for a draining Pod with any image',
      snapshotOf([warm('a', { node: cordonedMac }), warm('b', stale)]),
      'retire a (node drains)',
    ],
    ['the replacement of a Pod is created first', snapshotOf([warm('b', stale)], { replicas: 2 }), 'create 1'],
    ['it waits for a Pod without a runner', snapshotOf([unregistered('a'), warm('b', stale)]), 'register a'],
    ['it waits for a Pod that boots', snapshotOf([pending('a'), warm('b', stale)]), ''],
    [
      'it waits for a Pod whose guest has not reported',
      snapshotOf([warm('a', { job: 'unknown' }), warm('b', stale)]),
      '',
    ],
    ['it continues when the new Pod is warm', snapshotOf([warm('a'), warm('b', stale)]), 'retire b (stale image)'],
    ['it continues when the new Pod has a job', snapshotOf([busy('a'), warm('b', stale)]), 'retire b (stale image)'],
    [
      'a Pod whose Mac is gone counts against the limit',
      snapshotOf([warm('a', { node: goneMac }), warm('b', stale)]),
      'remove a (node is gone)',
    ],
    [
      'Pods that never started are replaced first',
      snapshotOf([warm('a', stale), unregistered('b', stale)]),
      'remove b (never had a runner)',
    ],
    [
      'Pods that never started count against the limit',
      snapshotOf([unregistered('a', stale), unregistered('b', stale)]),
      'register b, remove a (never had a runner)',
    ],
    [
      'Pods without a Mac are replaced before those',
      snapshotOf([unregistered('a', stale), unscheduled('b', stale)]),
      'register a, remove b (never had a runner)',
    ],
    [
      'an unschedulable Pod does not stop the rollout',
      snapshotOf([unscheduled('a', { node: unschedulable }), warm('b', stale)]),
      'retire b (stale image)',
    ],
    [
      'an unschedulable Pod stops the rollout while a Pod being deleted frees a slot',
      snapshotOf([terminating('x'), unscheduled('a', { node: unschedulable }), warm('b', stale)], { replicas: 2 }),
      '',
    ],
    [
      'a surplus Pod does not change the rollout',
      snapshotOf([...three, warm('d', stale)], { replicas: 3 }),
      'retire a (surplus), retire b (stale image)',
    ],
    [
      'a draining Pod stops the rollout',
      snapshotOf([warm('a', { ...stale, node: cordonedMac }), warm('b', stale)]),
      'retire a (node drains)',
    ],
    [
      'only Pods that never started are replaced during an outage',
      snapshotOf([warm('a', stale), unregistered('b', stale)], {}, unusable),
      'remove b (never had a runner)',
    ],
  ],
  'a runner that GitHub shows as offline': [
    ['has time to connect', snapshotOf([warm('a', { job: 'unknown', offlineSince: ago(9.9) })]), ''],
    [
      'frees its slot when its guest never reports',
      snapshotOf([warm('a', { job: 'unknown', offlineSince: ago(10) })]),
      'retire a (runner is offline)',
    ],
    [
      'frees its slot when it never registers',
      snapshotOf([warm('a', { offlineSince: ago(10) })]),
      'retire a (runner is offline)',
    ],
    ['is left alone when it has shown a job', snapshotOf([busy('a', { offlineSince: ago(60) })]), ''],
    ['is left alone while its image is pulled', snapshotOf([pending('a', { offlineSince: ago(60) })]), ''],
    [
      'is left alone while its Mac is not Ready',
      snapshotOf([
        warm('a', { offlineSince: ago(60), node: notReadyMac }),
        warm('b', { job: 'unknown', offlineSince: ago(60), node: notReadyMac }),
      ]),
      '',
    ],
    ['is left alone in an outage', snapshotOf([warm('a', { offlineSince: ago(60) })], {}, unusable), ''],
    [
      'is retired before a working runner',
      snapshotOf([warm('a'), warm('b', { job: 'unknown', offlineSince: ago(60) })], { replicas: 1 }),
      'retire b (runner is offline)',
    ],
    [
      'is removed after its settle period, although its guest never reported',
      snapshotOf([retired('a', 2, { job: 'unknown', isRetiredOffline: true })]),
      'remove a (settle period over)',
    ],
    [
      'is removed when it was retired before its guest started and never reported',
      snapshotOf([retired('a', 60, { job: 'unknown', runningSince: ago(59) })]),
      'remove a (settle period over)',
    ],
    ['is kept when it reports a job', snapshotOf([retired('a', 60, { job: 'started', isRetiredOffline: true })]), ''],
  ],
  'a retired Pod': [
    ['has time to end by itself', snapshotOf([retired('a', 1.9)]), ''],
    ['is removed after the settle period', snapshotOf([retired('a', 2)]), 'remove a (settle period over)'],
    ['is kept when it reports a job', snapshotOf([retired('a', 60, { job: 'started' })]), ''],
    ['is kept while its job state is unknown', snapshotOf([retired('a', 58, { job: 'unknown' })]), ''],
    ['is kept while its Mac is not Ready', snapshotOf([retired('a', 60, { node: notReadyMac })]), ''],
    [
      'is kept when its Mac has just become Ready',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: ago(1.9) }) })]),
      '',
    ],
    [
      'is kept while it is unknown since when its Mac is Ready',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: undefined }) })]),
      '',
    ],
    [
      'is removed when its Mac has been Ready for long enough',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: ago(2) }) })]),
      'remove a (settle period over)',
    ],
    [
      'is removed when it never started',
      snapshotOf([pending('a', { retiredAt: ago(2) })]),
      'remove a (settle period over)',
    ],
    ['is removed during an outage', snapshotOf([retired('a', 2)], {}, unusable), 'remove a (settle period over)'],
    [
      'is removed when its Mac is gone',
      snapshotOf([retired('a', 0, { job: 'started', node: goneMac })]),
      'remove a (node is gone)',
    ],
  ],
  'a Pod whose Mac is gone': [
    ['is removed, even with a job', snapshotOf([busy('a', { node: goneMac })]), 'remove a (node is gone)'],
    [
      'is removed during an outage',
      snapshotOf([unregistered('a', { node: goneMac })], {}, unusable),
      'remove a (node is gone)',
    ],
    ['is not deleted twice', snapshotOf([terminating('a', { node: goneMac })], { replicas: 0 }), ''],
  ],
  'a deleted pool': [
    ['retires idle Pods', snapshotOf([warm('a'), busy('b')], deleting), 'retire a (pool is deleted)'],
    [
      'deletes Pods without a runner, and registers none',
      snapshotOf([unregistered('a'), unscheduled('b')], deleting),
      'remove b (never had a runner), remove a (never had a runner)',
    ],
    [
      'annotates a running Pod, so that it can be retired',
      snapshotOf([warm('a', { runnerID: undefined })], deleting),
      'register a',
    ],
    ['creates no Pod', snapshotOf([busy('a')], { ...deleting, replicas: 3 }), ''],
    ['waits for jobs', snapshotOf([busy('a'), terminating('b')], deleting), ''],
    ['waits for retired Pods', snapshotOf([retired('a', 1)], deleting), ''],
    ['waits for a Pod with an unknown job state', snapshotOf([warm('a', { job: 'unknown' })], deleting), ''],
    ['waits for GitHub', snapshotOf([warm('a')], deleting, unusable), ''],
    ['records finished Pods first', snapshotOf([ended('a')], deleting), 'reap a'],
    ['waits for jobs, however many Pods have finished', snapshotOf([busy('a'), ended('b')], deleting), 'reap b'],
    ['is removed when the rest is being deleted', snapshotOf([terminating('a')], deleting), 'remove finalizer'],
    ['is removed when no Pod is left', snapshotOf([], deleting), 'remove finalizer'],
    ['gets no finalizer', snapshotOf([], { ...deleting, hasFinalizer: false }), ''],
  ],
};

for (const [name, table] of Object.entries(tables))
  describe(name, () => {
    for (const [row, snapshot, expected] of table)
      it(`${row}: ${expected || 'nothing'}`, () => {
        assert.equal(sketch(decide(snapshot)), expected);
      });
  });

describe('requeueAt', () => {
  const at = (snapshot: Snapshot): number | undefined => decide(snapshot).requeueAt;
  const table: [string, Snapshot, number | undefined][] = [
    ['is undefined when nothing changes', snapshotOf([warm('a'), busy('b'), ended('c')]), undefined],
    ['is the end of a settle period', snapshotOf([retired('a', 1), retired('b', 0.5)]), now + minute],
    ['is undefined for a settle period that ends now', snapshotOf([retired('a', 2)]), undefined],
    [
      'is when the Mac has been Ready for long enough',
      snapshotOf([retired('a', 9, { node: mac({ readyChangedAt: ago(1) }) })]),
      now + minute,
    ],
    ['is undefined for a retired Pod that is kept', snapshotOf([retired('a', 9, { job: 'started' })]), undefined],
    ['is when a starting Pod becomes stuck', snapshotOf([pending('a', { boundAt: ago(3) })]), now + 7 * minute],
    [
      'is when a terminating Pod becomes stuck',
      snapshotOf([terminating('a', { deletedAt: ago(3) })]),
      now + 7 * minute,
    ],
    [
      'is when a Pod without a report becomes stuck',
      snapshotOf([warm('a', { job: 'unknown', runningSince: ago(3) })]),
      now + 7 * minute,
    ],
    ['is now when the finalizer is missing', snapshotOf([], { hasFinalizer: false }), now],
  ];
  for (const [name, snapshot, expected] of table) it(name, () => assert.equal(at(snapshot), expected));

  it('is now when more Pods have finished than are recorded at a time: the oldest come first (tuist/tuist#10875)', () => {
    const pods = Array.from({ length: 504 }, (_, index) => ended(`p${index}`, { createdAt: ago(index) }));
    const { reap, requeueAt } = decide(snapshotOf(pods, { replicas: 0 }));
    assert.equal(reap.length, 50);
    assert.equal(reap[0], 'p503');
    assert.equal(requeueAt, now);
  });

  it('follows the configured limits', () => {
    const limits = { settleMs: minute, stuckAfterMs: minute };
    assert.equal(sketch(decide(snapshotOf([retired('a', 1)]), limits)), 'remove a (settle period over)');
  });
});
