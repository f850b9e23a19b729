import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RunnerPool, runnerPool, type RunnerPoolStatus } from '@tartan/api';
import { getCondition, type Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { GitHubFailure } from './github/health.ts';
import type { Snapshot } from './snapshot.ts';
import { statusOf as statusOfPool } from './status.ts';
import type { WaitingJobs } from './status/conditions.ts';
import {
  ago,
  unregistered,
  busy,
  ended,
  terminating,
  goneMac,
  minute,
  unschedulable,
  now,
  pending,
  retired,
  notReadyMac,
  snapshotOf,
  stale,
  unscheduled,
  warm,
} from './testing/snapshots.ts';

interface Inputs {
  readonly github?: GitHubFailure;
  readonly queue?: WaitingJobs;
  readonly newestRunner?: string;
}
const statusOf = (
  previous: RunnerPoolStatus | undefined,
  snapshot: Snapshot,
  { github, queue, newestRunner }: Inputs = {},
): RunnerPoolStatus => {
  const metadata = { name: 'macos', generation: 3 };
  const pool = { metadata, spec: { image: 'new' }, status: previous } as Live<RunnerPool>;
  return statusOfPool({ pool, queue, newestRunner }, snapshot, github);
};
const none = { observedGeneration: -1 };
const say = (type: string, snapshot: Snapshot, previous: RunnerPoolStatus = none, inputs: Inputs = {}): string => {
  const { conditions } = statusOf(previous, snapshot, inputs);
  const { status, reason, message } = getCondition(conditions, type) ?? {};
  return `${status} ${reason}: ${message}`;
};

describe('the numbers of a pool', () => {
  it('count every live Pod once', () => {
    const pods = [
      warm('a'),
      busy('b', stale),
      warm('silent Mac', { node: notReadyMac }),
      pending('c'),
      unscheduled('d'),
      warm('not a word', { job: 'unknown' }),
      retired('e', 1),
      retired('f', 1, { job: 'started' }),
      busy('g', { node: goneMac }),
      ended('h'),
      terminating('i', stale),
    ];
    const { replicas, warm: waiting, busy: working, retiring, stale: old } = statusOf(none, snapshotOf(pods));
    assert.deepEqual([replicas, waiting, working, retiring, old], [9, 1, 3, 2, 1]);
  });

  it('include zeros, and omit what is unknown', () => {
    const { conditions: _, ...status } = statusOf(undefined, snapshotOf([]));
    assert.deepEqual(status, {
      observedGeneration: 3,
      replicas: 0,
      selector: 'tuist.dev/runner=true,tuist.dev/runner-pool=macos',
      warm: 0,
      busy: 0,
      retiring: 0,
      stale: 0,
      stuck: 0,
      reaped: 0,
      observedImage: 'new',
    });
  });

  it('keep the record of finished Pods', () => {
    const finished = [{ name: 'x', uid: 'x' }];
    const status = statusOf({ ...none, finished, reaped: 7 }, snapshotOf([]));
    assert.deepEqual([status.finished, status.reaped], [finished, 7]);
  });

  it('do not change over time when nothing happens', () => {
    const snapshot = snapshotOf([warm('a'), busy('b', stale), pending('c'), terminating('d', { deletedAt: ago(20) })]);
    const queue = { jobs: 2, oldestSince: ago(30), observedAt: now };
    const status = statusOf(none, snapshot, { queue });
    assert.deepEqual(statusOf(status, { ...snapshot, now: now + minute }, { queue }), status);
  });

  it('observedImage changes once no Pod has another image', () => {
    const before = { ...none, observedImage: 'old' };
    assert.equal(statusOf(before, snapshotOf([warm('a', stale)])).observedImage, 'old');
    assert.equal(statusOf(before, snapshotOf([warm('a'), ended('b', stale)])).observedImage, 'new');
    assert.equal('observedImage' in statusOf(none, snapshotOf([warm('a', stale)])), false);
  });

  it('pass the validation of the CRD', () => {
    const queue = { jobs: 2, oldestSince: ago(30), observedAt: now };
    const status = statusOf(none, snapshotOf([busy('a'), terminating('b', { deletedAt: ago(30) })]), { queue });
    assert.deepEqual(runnerPool.status?.parse(status), status);
  });
});

describe('Ready', () => {
  const unusable = { github: 'unusable' } as const;
  const table: [string, Snapshot, string][] = [
    [
      'all as wanted',
      snapshotOf([warm('a'), warm('b'), busy('c')]),
      'True Converged: 3 Pods: 2 wait for a job and 1 is busy.',
    ],
    ['none wanted', snapshotOf([]), 'True Converged: No runners are wanted.'],
    ['all as wanted, in an outage', snapshotOf([warm('a')], {}, unusable), 'True Converged: 1 Pod: 1 waits for a job.'],
    ['none yet', snapshotOf([], { replicas: 2 }), 'False Filling: There are no Pods. 2 are wanted.'],
    [
      'one starts',
      snapshotOf([warm('a'), unregistered('b')]),
      'False Filling: 2 Pods: 1 waits for a job and 1 starts. 2 are wanted.',
    ],
    [
      'one runs and has not said a word',
      snapshotOf([warm('a', { job: 'unknown' })]),
      'False Filling: 1 Pod: 1 starts. 1 is wanted.',
    ],
    [
      'one is about to go',
      snapshotOf([warm('a'), retired('b', 1)]),
      'False Filling: 2 Pods: 1 waits for a job and 1 is about to go. 2 are wanted.',
    ],
    [
      'one is on a Mac that does not answer',
      snapshotOf([warm('a', { node: notReadyMac })]),
      'False Filling: 1 Pod: 1 is busy. 1 is wanted. On a Mac that does not answer: macos-runner-a.',
    ],
    [
      'no room',
      snapshotOf([
        warm('a'),
        unscheduled('b', { node: unschedulable, boundAt: ago(5) }),
        unscheduled('c', { node: unschedulable }),
      ]),
      'False NoRoom: 3 Pods: 1 waits for a job and 2 start. For 2 Pods there is no room on the Macs of the fleet, macos-runner-b since 2026-01-01T11:55:00Z: it takes more Macs, or fewer replicas. 3 are wanted.',
    ],
    [
      'too many',
      snapshotOf([busy('a'), busy('b')], { replicas: 1 }),
      'False Draining: 2 Pods: 2 are busy. 1 is wanted. Those with a job finish it.',
    ],
    [
      'a roll',
      snapshotOf([warm('a', stale), busy('b', stale), pending('c')]),
      'False Rolling: 2 of 3 have another image. 1 is busy, and finishes first. Being replaced: 1, at most 1 at a time.',
    ],
    [
      'an outage',
      snapshotOf([warm('a'), unregistered('b')], {}, unusable),
      'False GitHubUnavailable: 2 Pods: 1 waits for a job and 1 starts. They stay. 2 are wanted. See GitHubReachable.',
    ],
    [
      'no GitHub',
      snapshotOf([], { hasGitHub: false }, unusable),
      'False NoGitHub: The GitHub organization or repository of the runners is unknown: set spec.github.',
    ],
    [
      'a deletion',
      snapshotOf([busy('a'), retired('b', 1)], { isDeleting: true }),
      'False Deleting: 2 Pods: 1 is busy and 1 is about to go.',
    ],
    [
      'a deletion in an outage',
      snapshotOf([warm('a')], { isDeleting: true }, unusable),
      'False Deleting: 1 Pod: 1 waits for a job. 1 Pod without a job can only go when GitHub answers: see GitHubReachable.',
    ],
  ];
  for (const [name, snapshot, expected] of table) it(name, () => assert.equal(say('Ready', snapshot), expected));
});

describe('GitHubReachable', () => {
  it('reports the cause, and until when no request is sent', () => {
    const github = { reason: 'RateLimited', message: 'GitHub asks to wait.', retryAt: now } as const;
    const expected = 'False RateLimited: GitHub asks to wait. Not asked again before 2026-01-01T12:00:00Z.';
    assert.equal(say('GitHubReachable', snapshotOf([]), none, { github }), expected);
    assert.equal(say('GitHubReachable', snapshotOf([])), 'True Reachable: The last request succeeded.');
  });

  it('is removed when spec.github is unset', () => {
    const before = statusOf(none, snapshotOf([]));
    const { conditions } = statusOf(before, snapshotOf([], { hasGitHub: false }));
    assert.equal(getCondition(conditions, 'GitHubReachable'), undefined);
  });
});

describe('JobsWaiting', () => {
  const waiting = (minutes: number, jobs = 1) => ({
    queue: { jobs, oldestSince: ago(minutes), observedAt: now },
  });
  const said = (reason: string, status: 'True' | 'False' | 'Unknown', minutes: number): RunnerPoolStatus => ({
    ...none,
    conditions: [
      {
        type: 'JobsWaiting',
        status,
        reason,
        message: '',
        lastTransitionTime: timestamp(ago(minutes)),
      },
    ],
  });
  const reason = (...args: Parameters<typeof say> extends [string, ...infer Rest] ? Rest : never): string =>
    say('JobsWaiting', ...args).split(':')[0] ?? '';
  const full = snapshotOf([busy('a'), pending('b')]);
  const free = snapshotOf([busy('a'), warm('b')]);
  const table: [string, Snapshot, RunnerPoolStatus, Partial<Inputs>, string][] = [
    ['unknown', free, none, {}, 'Unknown Unknown'],
    ['none', free, none, waiting(0, 0), 'False NoneWaiting'],
    ['no runner is free', full, none, waiting(0), 'True Saturated'],
    ['there is no runner', snapshotOf([]), none, waiting(0), 'True Saturated'],
    ['a runner is free, at the first observation', free, none, waiting(30), 'False NoneWaiting'],
    ['a runner is free, and the job is new', free, said('NoneWaiting', 'False', 99), waiting(1), 'False NoneWaiting'],
    ['a runner has just become free', free, said('Saturated', 'True', 99), waiting(30), 'False NoneWaiting'],
    ['a runner has been free for a minute', free, said('NoneWaiting', 'False', 1), waiting(30), 'False NoneWaiting'],
    ['runner and job have waited for two minutes', free, said('NoneWaiting', 'False', 2), waiting(2), 'True Starved'],
    ['the job still waits', free, said('Starved', 'True', 0), waiting(1), 'True Starved'],
    ['a runner took the job', full, said('Starved', 'True', 9), waiting(9), 'True Saturated'],
    ['the job is gone', free, said('Starved', 'True', 9), waiting(0, 0), 'False NoneWaiting'],
    ['GitHub answers again', free, said('Unknown', 'Unknown', 9), waiting(30), 'False NoneWaiting'],
  ];
  for (const [name, snapshot, previous, rest, expected] of table)
    it(`${name}: ${expected}`, () => assert.equal(reason(snapshot, previous, rest), expected));

  it('reports counts, the oldest wait, and what to do', () => {
    assert.equal(
      say('JobsWaiting', full, none, waiting(30, 4)),
      'True Saturated: 4 jobs wait, the oldest since 2026-01-01T11:30:00Z. Of 2 Pods 1 is busy and 1 starts. More replicas, or more Macs, would help.',
    );
    assert.equal(
      say('JobsWaiting', free, said('Starved', 'True', 9), waiting(30)),
      'True Starved: 1 job waits, the oldest since 2026-01-01T11:30:00Z, and 1 runner waits for one: GitHub does not bring them together. Look at labels and runner group.',
    );
  });
});

describe('Stuck', () => {
  const table: [string, Snapshot, string][] = [
    ['none', snapshotOf([warm('a'), busy('b'), ended('c'), pending('d')]), 'False NoneStuck: No Pod is stuck.'],
    [
      'deleted, a moment ago',
      snapshotOf([terminating('a', { deletedAt: ago(9) })]),
      'False NoneStuck: No Pod is stuck.',
    ],
    [
      'deleted long ago',
      snapshotOf([terminating('a', { deletedAt: ago(10) }), terminating('b', { deletedAt: ago(11) })]),
      'True PodsStuckTerminating: Pods: 2 still there after their deletion. The oldest is macos-runner-b, since 2026-01-01T11:49:00Z. Look at the agent of its Node.',
    ],
    [
      'ended, and deleted long ago',
      snapshotOf([ended('a', { deletedAt: ago(10) })]),
      'True PodsStuckTerminating: Pods: 1 still there after its deletion. The oldest is macos-runner-a, since 2026-01-01T11:50:00Z. Look at the agent of its Node.',
    ],
    [
      'on a Mac, and nothing runs',
      snapshotOf([unregistered('a', { boundAt: ago(10) })]),
      'True PodsNeverStarted: Pods: 1 on a Mac without a virtual machine. The oldest is macos-runner-a, since 2026-01-01T11:50:00Z. Look at what it waits for: kubectl describe pod.',
    ],
    [
      'waits for a Mac',
      snapshotOf([unscheduled('a', { node: unschedulable, boundAt: ago(99) })]),
      'False NoneStuck: No Pod is stuck.',
    ],
    [
      'runs without a word',
      snapshotOf([warm('a', { job: 'unknown', runningSince: ago(10) })]),
      'True PodsSilent: Pods: 1 running without a word of its runner. The oldest is macos-runner-a, since 2026-01-01T11:50:00Z. Is the runner script in the image?',
    ],
    [
      'runs for a moment, after a long pull',
      snapshotOf([warm('a', { job: 'unknown', boundAt: ago(40), runningSince: ago(1) })]),
      'False NoneStuck: No Pod is stuck.',
    ],
    ['works for hours', snapshotOf([busy('a', { runningSince: ago(600) })]), 'False NoneStuck: No Pod is stuck.'],
    [
      'some of each',
      snapshotOf([terminating('a', { deletedAt: ago(20) }), pending('b', { boundAt: ago(30) })]),
      'True PodsNeverStarted: Pods: 1 still there after its deletion and 1 on a Mac without a virtual machine. The oldest is macos-runner-b, since 2026-01-01T11:30:00Z. Look at what it waits for: kubectl describe pod.',
    ],
  ];
  for (const [name, snapshot, expected] of table) it(name, () => assert.equal(say('Stuck', snapshot), expected));

  it('also sets stuck and oldestStuckSince', () => {
    const pods = [terminating('a', { deletedAt: ago(20) }), pending('b', { boundAt: ago(30) })];
    const { stuck, oldestStuckSince } = statusOf(none, snapshotOf(pods));
    assert.deepEqual([stuck, oldestStuckSince], [2, '2026-01-01T11:30:00Z']);
  });
});
