import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { adjustableClock } from '@tartan/kube/testing';
import { providerRights } from '@tartan/provider';
import {
  deniedCalls,
  formatCall,
  singleRights,
  unusedRights,
} from '../../packages/provider/src/manager/testing/rbac-calls.ts';
import { options, type PreparedCluster, preparedCluster } from './provider-rights/harness.ts';
import { scenariosOf } from './provider-rights/scenarios.ts';

describe('the manager on a real API server', () => {
  let cluster: PreparedCluster;
  before(async () => {
    cluster = await preparedCluster();
  });
  after(() => cluster.close());
  const table = singleRights(providerRights(options));

  test('works with the rights of its table, and is refused nothing (INC-16)', async (t) => {
    const chapters = scenariosOf(cluster);
    const first = cluster.startManager('agent-1', systemClock);
    t.after(first.stop);
    await chapters.kubeconfig();
    await chapters.joins(first);
    await chapters.namesakes();
    await chapters.scales();
    await first.stop();

    await chapters.startJob();
    // Without leader election: a lease would not survive the jumps of the clock.
    const clock = adjustableClock();
    const second = cluster.startManager('agent-2', clock, { leaderElection: undefined });
    t.after(second.stop);
    await chapters.busy(second);
    await chapters.rolls(second);
    await chapters.pods(clock);
    await chapters.leaves();
    await chapters.swept();

    for (const { provider } of [first, second]) {
      const { body } = await provider.metrics.text();
      assert.doesNotMatch(body, /^rest_client_requests_total\{code="403"/m, cluster.forbiddenLines());
    }
    assert.equal(cluster.forbiddenLines(), '');
  });

  test('asks for nothing that is not in the table', () => {
    assert.deepEqual(deniedCalls(cluster.calls(), table).map(formatCall), []);
  });

  test('has no right that it does not need', () => {
    assert.deepEqual(unusedRights(cluster.calls(), table).map(formatCall), []);
  });
});
