import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, labels } from '@tartan/api';
import { aNode, aRunnerPod, aRunnerPool, minutesAgo, said, toExplain } from '../testing/objects.ts';
import { poolStates } from '../runners/document.ts';
import { poolStateOf } from '../runners/pool-state.ts';
import { explainPod } from './pod.ts';
import { explainRunnerPool } from './runner-pool.ts';
import { findSubject } from './subject.ts';

describe('why a pool of runners is as it is', () => {
  test('its controller has the word, and each condition says what it means', () => {
    const pool = aRunnerPool('macos', {
      replicas: 3,
      warm: 0,
      busy: 3,
      stuck: 1,
      oldestStuckSince: minutesAgo(9),
      queue: { jobs: 2, oldestSince: minutesAgo(4), observedAt: minutesAgo(1) },
      conditions: [said('Ready', 'True', 'Converged'), said('JobsWaiting', 'True', 'Saturated')],
    });
    const node = { ...aNode('mac-1'), metadata: { ...aNode('mac-1').metadata, labels: { [labels.fleet]: 'runners' } } };
    const { where, decision, facts, remedies, conditions } = explainRunnerPool(pool, toExplain({ nodes: [node] }));
    assert.equal(where, 'The pool macos wants 3 runners and has 3: 0 warm, 3 busy.');
    assert.equal(decision.word, 'saturated');
    assert.match(remedies.join(' '), /kubectl scale rpool macos/);
    assert.deepEqual(
      facts.filter(({ what }) => ['queue', 'fleet', 'stuck'].includes(what)).map(({ is }) => is),
      ['runners, of which 1 Mac has joined', '2, the oldest for 4m; GitHub was asked 60s ago', '1, the oldest for 9m'],
    );
    assert.ok(conditions.every(({ means }) => means !== null && means !== ''));
  });

  test('every state that is not well has a way out, or goes on by itself', () => {
    const reasons = ['NoGitHub', 'GitHubUnavailable', 'NoRoom', 'Rolling', 'Draining', 'Filling', 'Deleting'];
    const pools = [
      aRunnerPool('unseen'),
      ...reasons.map((reason) => aRunnerPool('macos', { conditions: [said('Ready', 'False', reason)] })),
      ...['Saturated', 'Starved'].map((reason) =>
        aRunnerPool('macos', { conditions: [said('JobsWaiting', 'True', reason)] }),
      ),
      aRunnerPool('macos', { conditions: [said('Stuck', 'True', 'PodsSilent')] }),
    ];
    assert.equal(new Set(pools.map((pool) => poolStateOf(pool).state)).size, poolStates.length - 1);
    for (const pool of pools) {
      const { next, remedies, decision } = explainRunnerPool(pool, toExplain());
      assert.ok(next.length + remedies.length > 0, decision.word);
    }
  });

  test('it is found by its name, and by the words of kubectl', () => {
    const world = { ...toExplain(), runnerPools: [aRunnerPool('macos')] };
    for (const name of ['macos', 'rpool/macos', 'runnerpools/default/macos'])
      assert.equal(findSubject(name, world).kind, 'found', name);
    assert.equal(findSubject('fleet/macos', world).kind, 'not found');
  });
});

describe('a Pod that is a runner', () => {
  const factsOf = (pod: Parameters<typeof explainPod>[0]): Record<string, string> =>
    Object.fromEntries(explainPod(pod, toExplain({ nodes: [aNode('mac-1')] })).facts.map(({ what, is }) => [what, is]));

  test('tells its pool, its runner and whether it has a job', () => {
    const marks = { [annotations.runnerID]: '7', [annotations.runnerRetired]: minutesAgo(3) };
    const busy = factsOf(aRunnerPod('p', 'mac-1', { job: 'True', annotations: marks }));
    assert.equal(busy['at GitHub'], 'runner 7');
    assert.match(busy['job'] ?? '', /^it has one/);
    assert.match(busy['retired'] ?? '', /^3m ago/);
    assert.match(busy['runner of'] ?? '', /the pool macos/);
    const silent = factsOf(aRunnerPod('p', 'mac-1'));
    assert.match(silent['job'] ?? '', /counts as busy/);
    assert.match(silent['at GitHub'] ?? '', /not registered yet/);
  });

  test('its condition says what it means', () => {
    const { conditions } = explainPod(aRunnerPod('p', 'mac-1', { job: 'True' }), toExplain());
    assert.match(conditions[0]?.means ?? '', /a job has begun/);
  });
});
