import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, conditionsByKind, type RunnerPool } from '@tartan/api';
import type { Condition } from '@tartan/kube';
import { pageLines } from '../show/view.ts';
import { aRunnerPod, aRunnerPool, aWorld, minutesAgo, said } from '../testing/objects.ts';
import { runnersDocument } from './document.ts';
import type { Runners } from './observe-runners.ts';
import { poolStateOf } from './pool-state.ts';
import { runnersView } from './view.ts';

const { now } = aWorld();

const shown = (runners: Partial<Runners>, name?: string): string[] => {
  const view = runnersView(name);
  const document = view.documentOf({ now, pools: [], pods: undefined, notes: [], ...runners });
  runnersDocument.parse(document);
  return pageLines(view.pageOf(document), undefined, { colours: false });
};

const counts = { replicas: 3, warm: 1, busy: 2, retiring: 0, stale: 0, stuck: 0 };
const converged = said('Ready', 'True', 'Converged', 'All is as wanted.');

describe('the state of a pool', () => {
  const githubAway = said('GitHubReachable', 'False', 'RateLimited', 'Until 13:00.');
  const starved = said('JobsWaiting', 'True', 'Starved', 'No runner has the label xcode.');
  const stuck = said('Stuck', 'True', 'PodsStuckTerminating', '3 Pods.');
  const cases: readonly [what: string, conditions: Condition[], more: object, state: string, also: string[]][] = [
    ['nobody has looked', [], {}, 'unseen', []],
    ['all is as wanted', [converged], {}, 'ready', []],
    ['jobs wait for want of runners', [converged, said('JobsWaiting', 'True', 'Saturated')], {}, 'saturated', []],
    ['jobs wait beside runners', [converged, starved], {}, 'starved', []],
    ['nobody knows whether jobs wait', [converged, said('JobsWaiting', 'Unknown', 'Unknown')], {}, 'ready', []],
    ['no job waits', [converged, said('JobsWaiting', 'False', 'NoneWaiting')], {}, 'ready', []],
    ['it rolls, and is starved', [said('Ready', 'False', 'Rolling'), starved], {}, 'starved', ['rolling']],
    ['Pods are stuck', [converged, stuck], {}, 'stuck', []],
    ['none is stuck', [converged, said('Stuck', 'False', 'NoneStuck')], {}, 'ready', []],
    [
      'GitHub refuses',
      [said('Ready', 'False', 'GitHubUnavailable', 'See GitHubReachable.'), githubAway],
      {},
      'github away',
      [],
    ],
    ['a reason that nobody knows', [said('Ready', 'False', 'Tired')], {}, 'filling', []],
    ['it was deleted a moment ago', [converged], { deletionTimestamp: minutesAgo(0) }, 'deleting', []],
  ];
  for (const [what, conditions, more, state, also] of cases)
    test(`${what}: ${state}`, () => {
      const found = poolStateOf(aRunnerPool('macos', { conditions }, { more }));
      assert.deepEqual([found.state, found.also], [state, also]);
      assert.notEqual(found.why, '');
    });

  for (const [reason, [status]] of Object.entries(conditionsByKind.RunnerPool.Ready.reasons))
    test(`${reason} has a word`, () => {
      const { state, why } = poolStateOf(aRunnerPool('macos', { conditions: [said('Ready', status, reason)] }));
      assert.equal(state === 'ready', status === 'True');
      assert.notEqual(why, '');
    });

  test('how GitHub is away is said, not that it is', () => {
    const conditions = [said('Ready', 'False', 'GitHubUnavailable', 'See GitHubReachable.'), githubAway];
    assert.equal(poolStateOf(aRunnerPool('macos', { conditions })).why, 'Until 13:00.');
  });
});

describe('tartan runners', () => {
  const saturated: Partial<RunnerPool['status']> = {
    ...counts,
    queue: { jobs: 4, oldestSince: minutesAgo(12), observedAt: minutesAgo(1) },
    conditions: [converged, said('JobsWaiting', 'True', 'Saturated', 'All 3 have a job.')],
  };

  test('has a line for each pool, with its queue and why it is as it is', () => {
    assert.deepEqual(shown({ pools: [aRunnerPool('macos', saturated), aRunnerPool('idle')] }), [
      'POOL    WANTED   WARM   BUSY   RETIRING   STALE   STUCK   QUEUE   OLDEST   STATE       WHY',
      'idle    3        ?      ?      ?          ?       ?       ?                unseen      No controller has looked at it yet. Does the runners controller run, and in this namespace? The chart has it with runnersController.enabled=true.',
      'macos   3        1      2      0          0       0       4       12m      saturated   All 3 have a job.',
      '',
      'The Pods of a pool: tartan runners POOL. Why something is as it is: tartan explain NAME.',
    ]);
  });

  test('with the name of a pool it shows its Pods, and those that ended last', () => {
    const finished = [
      {
        name: 'macos-runner-d',
        uid: 'u',
        node: 'mac-2',
        hadJob: true,
        exitCode: 0,
        reason: 'Completed',
        startedAt: minutesAgo(20),
        finishedAt: minutesAgo(5),
      },
      { name: 'macos-runner-e', uid: 'v' },
    ];
    const retired = { [annotations.runnerID]: '12', [annotations.runnerRetired]: minutesAgo(3) };
    const pods = [
      aRunnerPod('macos-runner-c', undefined),
      aRunnerPod('macos-runner-a', 'mac-1', { job: 'True', annotations: { [annotations.runnerID]: '11' } }),
      aRunnerPod('macos-runner-b', 'mac-1', { job: 'False', annotations: retired }),
    ];
    const pools = [aRunnerPool('macos', { ...saturated, finished }, { spec: { image: 'macos:1' } }), aRunnerPool('x')];
    assert.deepEqual(shown({ pools, pods }, 'macos').slice(2), [
      '',
      'POD              NODE    PHASE     JOB       RUNNER   RETIRED   AGE',
      'macos-runner-a   mac-1   Running   started   11                 60m',
      'macos-runner-b   mac-1   Running   none      12       3m        60m',
      'macos-runner-c           Pending   unknown                      60m',
      '',
      'FINISHED         NODE    JOB       CODE   REASON      TOOK   AGO',
      'macos-runner-d   mac-2   yes       0      Completed   15m    5m',
      'macos-runner-e           unknown',
    ]);
  });

  test('Pods with another image than the pool wants are marked', () => {
    const pools = [aRunnerPool('macos', counts, { spec: { image: 'macos:2' } })];
    assert.match(shown({ pools, pods: [aRunnerPod('p', 'mac-1')] }, 'macos').join('\n'), /IMAGE[^]*stale/);
  });

  test('a queue that nobody has seen for long is no answer', () => {
    const queue = { jobs: 0, observedAt: minutesAgo(30) };
    const lines = shown({ pools: [aRunnerPool('macos', { ...counts, queue, conditions: [converged] })] });
    assert.match(lines.at(-1) ?? '', /The queue of macos was seen 30m ago/);
  });

  const sentences: readonly [what: string, seen: Partial<Runners>, name: string | undefined, says: RegExp][] = [
    ['no pool', {}, undefined, /^There is no RunnerPool here: make one/],
    [
      'no such pool',
      { pools: [aRunnerPool('other')] },
      'macos',
      /^There is no RunnerPool macos\. tartan runners shows/,
    ],
    ['no such kind', { pools: undefined }, undefined, /^This cluster knows no RunnerPool.*runnersController\.enabled/s],
    ['a pool without Pods', { pools: [aRunnerPool('macos')], pods: [] }, 'macos', /^The pool has no Pods now\.$/m],
    ['Pods that may not be read', { pools: [aRunnerPool('macos')], notes: ['You may not.'] }, 'macos', /^You may not/m],
  ];
  for (const [what, seen, name, says] of sentences)
    test(`${what} is a sentence`, () => assert.match(shown(seen, name).join('\n'), says));

  test('only a pool that was named and is not there is worth an exit code', () => {
    const codeOf = (name: string | undefined, pools: Runners['pools']): number => {
      const view = runnersView(name);
      return view.exitCode(view.documentOf({ now, pools, pods: undefined, notes: [] }));
    };
    const pools = [aRunnerPool('macos')];
    assert.deepEqual(
      [codeOf(undefined, []), codeOf(undefined, undefined), codeOf('macos', pools), codeOf('x', pools)],
      [0, 0, 0, 1],
    );
  });
});
