import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, labels } from '@tartan/api';
import { poolStateOf, poolStates } from '../runners/document.ts';
import { aCondition, anExplainInput, aNode, aRunnerPod, aRunnerPool, minutesAgo } from '../testing/objects.ts';
import { explainPod } from './pod.ts';
import { resolveName } from './resolve-name.ts';
import { explainRunnerPool } from './runner-pool.ts';

describe('explain a RunnerPool', () => {
  test('shows the state that its controller reports, and the meaning of each condition', () => {
    const pool = aRunnerPool('macos', {
      replicas: 3,
      warm: 0,
      busy: 3,
      stuck: 1,
      oldestStuckSince: minutesAgo(9),
      queue: { jobs: 2, oldestSince: minutesAgo(4), observedAt: minutesAgo(1) },
      conditions: [aCondition('Ready', 'True', 'Converged'), aCondition('JobsWaiting', 'True', 'Saturated')],
    });
    const node = { ...aNode('mac-1'), metadata: { ...aNode('mac-1').metadata, labels: { [labels.fleet]: 'runners' } } };
    const { where, decision, facts, remedies, conditions } = explainRunnerPool(pool, anExplainInput({ nodes: [node] }));
    assert.equal(where, 'The pool macos wants 3 runners and has 3: 0 warm, 3 busy.');
    assert.equal(decision.word, 'saturated');
    assert.match(remedies.join(' '), /kubectl scale rpool macos/);
    assert.deepEqual(
      facts.filter(({ what }) => ['queue', 'fleet', 'stuck'].includes(what)).map(({ is }) => is),
      ['runners, with 1 Mac', '2, the oldest for 4m; read from GitHub 60s ago', '1, the oldest for 9m'],
    );
    assert.ok(conditions.every(({ means }) => means !== null && means !== ''));
  });

  test('every unhealthy state has a remedy or recovers by itself', () => {
    const reasons = ['NoGitHub', 'GitHubUnavailable', 'NoRoom', 'Rolling', 'Draining', 'Filling', 'Deleting'];
    const pools = [
      aRunnerPool('unseen'),
      ...reasons.map((reason) => aRunnerPool('macos', { conditions: [aCondition('Ready', 'False', reason)] })),
      ...['Saturated', 'Starved'].map((reason) =>
        aRunnerPool('macos', { conditions: [aCondition('JobsWaiting', 'True', reason)] }),
      ),
      aRunnerPool('macos', { conditions: [aCondition('Stuck', 'True', 'PodsSilent')] }),
    ];
    assert.equal(new Set(pools.map((pool) => poolStateOf(pool).state)).size, poolStates.length - 1);
    for (const pool of pools) {
      const { next, remedies, decision } = explainRunnerPool(pool, anExplainInput());
      assert.ok(next.length + remedies.length > 0, decision.word);
    }
  });

  test('it is found by name and by its kubectl short names', () => {
    const state = { ...anExplainInput(), runnerPools: [aRunnerPool('macos')] };
    for (const name of ['macos', 'rpool/macos', 'runnerpools/default/macos'])
      assert.equal(resolveName(name, state).subject.kind, 'runnerpool', name);
    assert.throws(() => resolveName('fleet/macos', state), /has the name fleet\/macos/);
  });
});

describe('explain a runner Pod', () => {
  const factsOf = (pod: Parameters<typeof explainPod>[0]): Record<string, string> =>
    Object.fromEntries(
      explainPod(pod, anExplainInput({ nodes: [aNode('mac-1')] })).facts.map(({ what, is }) => [what, is]),
    );

  test('shows its pool, its GitHub runner and its job', () => {
    const marks = { [annotations.runnerID]: '7', [annotations.runnerRetired]: minutesAgo(3) };
    const busy = factsOf(aRunnerPod('p', 'mac-1', { job: 'True', annotations: marks }));
    assert.equal(busy['at GitHub'], 'runner 7');
    assert.match(busy['job'] ?? '', /^started/);
    assert.match(busy['retired'] ?? '', /^3m ago/);
    assert.match(busy['runner pool'] ?? '', /^macos /);
    const silent = factsOf(aRunnerPod('p', 'mac-1'));
    assert.match(silent['job'] ?? '', /counts as busy/);
    assert.match(silent['at GitHub'] ?? '', /not registered yet/);
  });

  test('its condition has a meaning', () => {
    const { conditions } = explainPod(aRunnerPod('p', 'mac-1', { job: 'True' }), anExplainInput());
    assert.match(conditions[0]?.means ?? '', /a job has begun/);
  });
});
