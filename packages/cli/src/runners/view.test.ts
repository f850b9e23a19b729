import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, conditionsByKind, type RunnerPool } from '@tartan/api';
import type { Condition } from '@tartan/kube';
import { pageLines } from '../output/view.ts';
import { aClusterState, aCondition, aRunnerPod, aRunnerPool, minutesAgo } from '../testing/objects.ts';
import { poolStateOf, runnersDocument } from './document.ts';
import type { RunnersState } from './read-runners.ts';
import { runnersView } from './view.ts';

const { now } = aClusterState();

const shown = (runners: Partial<RunnersState>, name?: string): string[] => {
  const view = runnersView(name);
  const document = view.documentOf({ now, pools: [], pods: undefined, notes: [], ...runners });
  runnersDocument.parse(document);
  return pageLines(view.pageOf(document), undefined, { colours: false });
};

const counts = { replicas: 3, warm: 1, busy: 2, retiring: 0, stale: 0, stuck: 0 };
const converged = aCondition('Ready', 'True', 'Converged', 'The desired state is reached.');

describe('the state of a pool', () => {
  const githubAway = aCondition('GitHubReachable', 'False', 'RateLimited', 'Until 13:00.');
  const starved = aCondition('JobsWaiting', 'True', 'Starved', 'No runner has the label xcode.');
  const stuck = aCondition('Stuck', 'True', 'PodsStuckTerminating', '3 Pods.');
  const cases: readonly [what: string, conditions: Condition[], more: object, state: string, also: string[]][] = [
    ['not observed yet', [], {}, 'unseen', []],
    ['all is as wanted', [converged], {}, 'ready', []],
    ['jobs wait for want of runners', [converged, aCondition('JobsWaiting', 'True', 'Saturated')], {}, 'saturated', []],
    ['jobs wait beside runners', [converged, starved], {}, 'starved', []],
    ['unknown whether jobs wait', [converged, aCondition('JobsWaiting', 'Unknown', 'Unknown')], {}, 'ready', []],
    ['no job waits', [converged, aCondition('JobsWaiting', 'False', 'NoneWaiting')], {}, 'ready', []],
    ['it rolls, and is starved', [aCondition('Ready', 'False', 'Rolling'), starved], {}, 'starved', ['rolling']],
    ['Pods are stuck', [converged, stuck], {}, 'stuck', []],
    ['none is stuck', [converged, aCondition('Stuck', 'False', 'NoneStuck')], {}, 'ready', []],
    [
      'GitHub refuses',
      [aCondition('Ready', 'False', 'GitHubUnavailable', 'See GitHubReachable.'), githubAway],
      {},
      'github away',
      [],
    ],
    ['an unknown reason', [aCondition('Ready', 'False', 'Tired')], {}, 'filling', []],
    ['it was deleted a moment ago', [converged], { deletionTimestamp: minutesAgo(0) }, 'deleting', []],
  ];
  for (const [what, conditions, more, state, also] of cases)
    test(`${what}: ${state}`, () => {
      const found = poolStateOf(aRunnerPool('macos', { conditions }, { more }));
      assert.deepEqual([found.state, found.also], [state, also]);
      assert.notEqual(found.why, '');
    });

  for (const [reason, [status]] of Object.entries(conditionsByKind.RunnerPool.Ready.reasons))
    test(`${reason} has a text`, () => {
      const { state, why } = poolStateOf(aRunnerPool('macos', { conditions: [aCondition('Ready', status, reason)] }));
      assert.equal(state === 'ready', status === 'True');
      assert.notEqual(why, '');
    });

  test('an unreachable GitHub is reported with its cause', () => {
    const conditions = [aCondition('Ready', 'False', 'GitHubUnavailable', 'See GitHubReachable.'), githubAway];
    assert.equal(poolStateOf(aRunnerPool('macos', { conditions })).why, 'Until 13:00.');
  });
});

describe('tartan runners', () => {
  const saturated: Partial<RunnerPool['status']> = {
    ...counts,
    queue: { jobs: 4, oldestSince: minutesAgo(12), observedAt: minutesAgo(1) },
    conditions: [converged, aCondition('JobsWaiting', 'True', 'Saturated', 'All 3 have a job.')],
  };

  test('prints a row per pool with queue and reason', () => {
    assert.deepEqual(shown({ pools: [aRunnerPool('macos', saturated), aRunnerPool('idle')] }), [
      'POOL    WANTED   WARM   BUSY   RETIRING   STALE   STUCK   QUEUE   OLDEST   STATE       WHY',
      'idle    3        ?      ?      ?          ?       ?       ?                unseen      No controller has observed the pool yet. Check that the runners controller runs, and in this namespace (runnersController.enabled=true in the chart).',
      'macos   3        1      2      0          0       0       4       12m      saturated   All 3 have a job.',
      '',
      'The Pods of a pool: tartan runners POOL. Why something is as it is: tartan explain NAME.',
    ]);
  });

  test('with a pool name it prints its Pods and the last finished ones', () => {
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

  test('Pods with an outdated image are marked stale', () => {
    const pools = [aRunnerPool('macos', counts, { spec: { image: 'macos:2' } })];
    assert.match(shown({ pools, pods: [aRunnerPod('p', 'mac-1')] }, 'macos').join('\n'), /IMAGE[^]*stale/);
  });

  test('an old queue observation is reported as old', () => {
    const queue = { jobs: 0, observedAt: minutesAgo(30) };
    const lines = shown({ pools: [aRunnerPool('macos', { ...counts, queue, conditions: [converged] })] });
    assert.match(lines.at(-1) ?? '', /The queue of macos was read 30m ago/);
  });

  const sentences: readonly [what: string, seen: Partial<RunnersState>, name: string | undefined, says: RegExp][] = [
    ['no pool', {}, undefined, /^There is no RunnerPool\. Create one/],
    [
      'no such pool',
      { pools: [aRunnerPool('other')] },
      'macos',
      /^There is no RunnerPool macos\. tartan runners lists all/,
    ],
    [
      'no such kind',
      { pools: undefined },
      undefined,
      /^The kind RunnerPool is not installed.*runnersController\.enabled/s,
    ],
    ['a pool without Pods', { pools: [aRunnerPool('macos')], pods: [] }, 'macos', /^The pool has no Pods now\.$/m],
    ['Pods that may not be read', { pools: [aRunnerPool('macos')], notes: ['You may not.'] }, 'macos', /^You may not/m],
  ];
  for (const [what, seen, name, says] of sentences)
    test(`${what} prints a sentence`, () => assert.match(shown(seen, name).join('\n'), says));

  test('only an unknown pool name exits with 1', () => {
    const codeOf = (name: string | undefined, pools: RunnersState['pools']): number => {
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
