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
  'how many there are': [
    ['as wanted', snapshotOf([warm('a'), busy('b')]), ''],
    ['none, and none wanted', snapshotOf([]), ''],
    ['too few', snapshotOf([warm('a')], { replicas: 3 }), 'create 2'],
    ['one that has ended takes no place', snapshotOf([ended('a'), warm('b')]), 'create 1, reap a'],
    ['those of the same age are reaped by UID', snapshotOf([ended('b'), ended('a')]), 'create 2, reap a, reap b'],
    ['nor does one that is being deleted', snapshotOf([terminating('a'), warm('b')]), 'create 1'],
    ['a retired one does until it has ended', snapshotOf([retired('a', 1), warm('b')]), ''],
    ['without GitHub none is made', snapshotOf([], { replicas: 3, hasGitHub: false }, unusable), ''],
    ['in an outage they are made all the same', snapshotOf([], { replicas: 1 }, unusable), 'create 1'],
    ['the finalizer comes before the first', snapshotOf([], { replicas: 3, hasFinalizer: false }), 'add finalizer'],
    ['accounts without a Pod go', snapshotOf([], {}, { orphanedAccounts: ['x'] }), 'delete account x'],
  ],
  'who gets a runner': [
    ['one that has a Mac', snapshotOf([unregistered('a')]), 'register a'],
    ['not one that has none', snapshotOf([unscheduled('a')]), ''],
    ['not in an outage', snapshotOf([unregistered('a')], {}, unusable), ''],
    ['one that runs and lacks its mark', snapshotOf([warm('a', { runnerID: undefined })]), 'register a'],
    ['not one that goes', snapshotOf([unregistered('a')], { replicas: 0 }), 'remove a (never had a runner)'],
    [
      'one with an old image whose turn has not come',
      snapshotOf([unregistered('a', stale), unregistered('b')]),
      'register a, register b',
    ],
  ],
  'too many': [
    ['an idle one is retired', snapshotOf([warm('a'), busy('b')], { replicas: 1 }), 'retire a (surplus)'],
    ['none with a job', snapshotOf([busy('a'), busy('b')], { replicas: 0 }), ''],
    ['none of which nobody knows', snapshotOf([warm('a', { job: 'unknown' })], { replicas: 0 }), ''],
    ['none on a Mac that is not Ready', snapshotOf([warm('a', { node: notReadyMac })], { replicas: 0 }), ''],
    ['none in an outage', snapshotOf([warm('a')], { replicas: 0 }, unusable), ''],
    [
      'one without a runner, also in an outage',
      snapshotOf([warm('a'), unregistered('b')], { replicas: 1 }, unusable),
      'remove b (never had a runner)',
    ],
    [
      'the least useful',
      snapshotOf([warm('a'), pending('b'), warm('c', { createdAt: ago(1) })], { replicas: 1 }),
      'retire b (surplus), retire c (surplus)',
    ],
    ['those that are retired go already', snapshotOf([retired('a', 1), warm('b')], { replicas: 1 }), ''],
    [
      'so do those that drain',
      snapshotOf([warm('a', { node: cordonedMac }), pending('b')], { replicas: 1 }),
      'retire a (node drains)',
    ],
    [
      'so do those whose Mac is gone',
      snapshotOf([warm('a', { node: goneMac }), warm('b')], { replicas: 1 }),
      'remove a (node is gone)',
    ],
  ],
  'a Mac that drains': [
    [
      'idle ones are retired at once',
      snapshotOf([warm('a', { node: cordonedMac }), pending('b', { node: cordonedMac })]),
      'retire b (node drains), retire a (node drains)',
    ],
    [
      'one without a runner goes',
      snapshotOf([unregistered('a', { node: cordonedMac })]),
      'remove a (never had a runner)',
    ],
    ['one with a job finishes it', snapshotOf([busy('a', { node: cordonedMac })]), ''],
    [
      'no Pod on a Mac that is not Ready is retired',
      snapshotOf([warm('a', { node: mac({ isReady: false, isDraining: true }) })]),
      '',
    ],
    ['nobody goes in an outage', snapshotOf([warm('a', { node: cordonedMac })], {}, unusable), ''],
  ],
  'a new image': [
    ['one at a time in a small pool', snapshotOf(three), 'retire a (stale image)'],
    [
      'as many as the percentage says',
      snapshotOf(three, { maxConcurrentPercent: 70 }),
      'retire a (stale image), retire b (stale image)',
    ],
    ['those with a job finish it', snapshotOf([busy('a', stale), warm('b', stale)]), 'retire b (stale image)'],
    ['one that is retired is waited for', snapshotOf([retired('a', 1, stale), warm('b', stale)]), ''],
    [
      'but not once it has a job after all',
      snapshotOf([retired('a', 1, { ...stale, job: 'started' }), warm('b', stale)]),
      'retire b (stale image)',
    ],
    [
      'so is one that drains, whatever its image',
      snapshotOf([warm('a', { node: cordonedMac }), warm('b', stale)]),
      'retire a (node drains)',
    ],
    ['so is its successor, made', snapshotOf([warm('b', stale)], { replicas: 2 }), 'create 1'],
    ['without a runner', snapshotOf([unregistered('a'), warm('b', stale)]), 'register a'],
    ['that boots', snapshotOf([pending('a'), warm('b', stale)]), ''],
    ['that has not said a word', snapshotOf([warm('a', { job: 'unknown' }), warm('b', stale)]), ''],
    ['and goes on when it is warm', snapshotOf([warm('a'), warm('b', stale)]), 'retire b (stale image)'],
    ['or has a job', snapshotOf([busy('a'), warm('b', stale)]), 'retire b (stale image)'],
    [
      'one whose Mac is gone is one less',
      snapshotOf([warm('a', { node: goneMac }), warm('b', stale)]),
      'remove a (node is gone)',
    ],
    [
      'those that never started go first',
      snapshotOf([warm('a', stale), unregistered('b', stale)]),
      'remove b (never had a runner)',
    ],
    [
      'they count, too',
      snapshotOf([unregistered('a', stale), unregistered('b', stale)]),
      'register b, remove a (never had a runner)',
    ],
    [
      'those without a Mac before them',
      snapshotOf([unregistered('a', stale), unscheduled('b', stale)]),
      'register a, remove b (never had a runner)',
    ],
    [
      'one for which there is no room holds up nothing',
      snapshotOf([unscheduled('a', { node: unschedulable }), warm('b', stale)]),
      'retire b (stale image)',
    ],
    [
      'unless it waits for the place of one that goes',
      snapshotOf([terminating('x'), unscheduled('a', { node: unschedulable }), warm('b', stale)], { replicas: 2 }),
      '',
    ],
    [
      'one that is too many leaves the others as they are',
      snapshotOf([...three, warm('d', stale)], { replicas: 3 }),
      'retire a (surplus), retire b (stale image)',
    ],
    [
      'so does one that drains',
      snapshotOf([warm('a', { ...stale, node: cordonedMac }), warm('b', stale)]),
      'retire a (node drains)',
    ],
    [
      'nothing in an outage but what never started',
      snapshotOf([warm('a', stale), unregistered('b', stale)], {}, unusable),
      'remove b (never had a runner)',
    ],
  ],
  'a runner that GitHub shows as offline': [
    ['is left to connect', snapshotOf([warm('a', { job: 'unknown', offlineSince: ago(9.9) })]), ''],
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
      'goes in the place of one that works',
      snapshotOf([warm('a'), warm('b', { job: 'unknown', offlineSince: ago(60) })], { replicas: 1 }),
      'retire b (runner is offline)',
    ],
    [
      'goes once its settle period is over, although its guest never spoke',
      snapshotOf([retired('a', 2, { job: 'unknown', isRetiredOffline: true })]),
      'remove a (settle period over)',
    ],
    [
      'goes when it was retired before its guest started, which never spoke',
      snapshotOf([retired('a', 60, { job: 'unknown', runningSince: ago(59) })]),
      'remove a (settle period over)',
    ],
    [
      'stays when it shows a job after all',
      snapshotOf([retired('a', 60, { job: 'started', isRetiredOffline: true })]),
      '',
    ],
  ],
  'a retired one': [
    ['gets time to end by itself', snapshotOf([retired('a', 1.9)]), ''],
    ['goes when it has not', snapshotOf([retired('a', 2)]), 'remove a (settle period over)'],
    ['stays when it shows a job', snapshotOf([retired('a', 60, { job: 'started' })]), ''],
    ['stays when nobody knows', snapshotOf([retired('a', 58, { job: 'unknown' })]), ''],
    ['stays while its Mac is not Ready', snapshotOf([retired('a', 60, { node: notReadyMac })]), ''],
    [
      'stays when its Mac has just come back',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: ago(1.9) }) })]),
      '',
    ],
    [
      'stays while it is unknown since when its Mac is Ready',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: undefined }) })]),
      '',
    ],
    [
      'goes when that is long enough ago',
      snapshotOf([retired('a', 60, { node: mac({ readyChangedAt: ago(2) }) })]),
      'remove a (settle period over)',
    ],
    ['goes when it never started', snapshotOf([pending('a', { retiredAt: ago(2) })]), 'remove a (settle period over)'],
    ['goes in an outage', snapshotOf([retired('a', 2)], {}, unusable), 'remove a (settle period over)'],
    [
      'goes when its Mac is gone',
      snapshotOf([retired('a', 0, { job: 'started', node: goneMac })]),
      'remove a (node is gone)',
    ],
  ],
  'one whose Mac is gone': [
    ['goes, whatever it had', snapshotOf([busy('a', { node: goneMac })]), 'remove a (node is gone)'],
    ['goes in an outage', snapshotOf([unregistered('a', { node: goneMac })], {}, unusable), 'remove a (node is gone)'],
    ['is not deleted twice', snapshotOf([terminating('a', { node: goneMac })], { replicas: 0 }), ''],
  ],
  'a pool that is deleted': [
    ['retires the idle', snapshotOf([warm('a'), busy('b')], deleting), 'retire a (pool is deleted)'],
    [
      'deletes whoever has no runner, and registers nobody',
      snapshotOf([unregistered('a'), unscheduled('b')], deleting),
      'remove b (never had a runner), remove a (never had a runner)',
    ],
    [
      'marks one that runs, so that it can be retired',
      snapshotOf([warm('a', { runnerID: undefined })], deleting),
      'register a',
    ],
    ['makes none', snapshotOf([busy('a')], { ...deleting, replicas: 3 }), ''],
    ['waits for jobs', snapshotOf([busy('a'), terminating('b')], deleting), ''],
    ['waits for the retired', snapshotOf([retired('a', 1)], deleting), ''],
    ['waits for what nobody knows', snapshotOf([warm('a', { job: 'unknown' })], deleting), ''],
    ['waits for GitHub', snapshotOf([warm('a')], deleting, unusable), ''],
    ['writes down who has ended first', snapshotOf([ended('a')], deleting), 'reap a'],
    ['waits for jobs, however many have ended', snapshotOf([busy('a'), ended('b')], deleting), 'reap b'],
    ['is removed when the rest is being deleted', snapshotOf([terminating('a')], deleting), 'remove finalizer'],
    ['is removed when nobody is left', snapshotOf([], deleting), 'remove finalizer'],
    ['that nobody holds is not held', snapshotOf([], { ...deleting, hasFinalizer: false }), ''],
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
    ['never, when all is quiet', snapshotOf([warm('a'), busy('b'), ended('c')]), undefined],
    ['when the settle period of a retired one ends', snapshotOf([retired('a', 1), retired('b', 0.5)]), now + minute],
    ['not for one whose settle period ends right now', snapshotOf([retired('a', 2)]), undefined],
    [
      'when its Mac has been Ready for long enough',
      snapshotOf([retired('a', 9, { node: mac({ readyChangedAt: ago(1) }) })]),
      now + minute,
    ],
    [
      'not for one whose settle period is over and that stays',
      snapshotOf([retired('a', 9, { job: 'started' })]),
      undefined,
    ],
    ['when a Pod that starts is stuck', snapshotOf([pending('a', { boundAt: ago(3) })]), now + 7 * minute],
    ['when a Pod that goes is stuck', snapshotOf([terminating('a', { deletedAt: ago(3) })]), now + 7 * minute],
    [
      'when a Pod that is silent is stuck',
      snapshotOf([warm('a', { job: 'unknown', runningSince: ago(3) })]),
      now + 7 * minute,
    ],
    ['at once, when the pool is held', snapshotOf([], { hasFinalizer: false }), now],
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
