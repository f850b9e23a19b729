import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations } from '@tartan/api';
import { KubeError, pods } from '@tartan/kube';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { doneOutcome } from './testing/fakes.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const rejected = { kind: 'rejected', step: 'agent-job', message: 'it does not start' } as const;
const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;
const notIdle = { step: 'tart', because: 'the host is not idle' };

/** The agent restarts and reports its state. */
const report = async (stage: Harness): Promise<void> => {
  const { hostConfigHash } = await stage.status();
  await stage.patchNode({ metadata: { annotations: { [annotations.hostConfigHash]: hostConfigHash } } });
};

const drifting = async (stage: Harness): Promise<string> => {
  await stage.start();
  await stage.living();
  await stage.release('agent-2');
  return (await stage.status()).desiredHostConfigHash ?? assert.fail();
};

describe('a Mac with a new desired state', () => {
  it('waits for its turn, is rolled, and reports UpToDate', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    assert.notEqual((await stage.status()).hostConfigHash, wanted);
    assert.equal(await stage.reason('HostUpToDate'), 'WaitingForTurn');
    assert.equal((await stage.status()).phase, 'Ready');
    await stage.pass(20);
    assert.equal(stage.work.jobs.length, 1, 'nothing is pushed without a turn');
    await stage.giveTurn();
    assert.equal(stage.work.jobs.length, 2);
    const job = stage.work.jobs[1];
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.mode, 'changed');
    assert.equal(job.pinnedHostKey, 'SHA256:first');
    assert.equal(job.task.spec.agent.providerID, 'scw-applesilicon://fr-par-1/server-1');
    assert.equal(job.task.secrets.joinKubeconfig, undefined);
    const status = await stage.status();
    assert.equal(status.hostConfigHash, wanted);
    assert.equal(await stage.reason('HostUpToDate'), 'UpToDate');
    assert.ok((await stage.events()).includes('AgentRolled'));
    await report(stage);
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, 2);
    assert.equal((await stage.status()).phase, 'Ready');
  });

  it('is not pushed to twice when the answer to the status write is lost', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    let lost = 0;
    stage.interpose((send) => async (request) => {
      const answer = await send(request);
      if (lost > 0 || request.method !== 'PATCH' || !request.body?.includes('"hostConfigHash"')) return answer;
      lost += 1;
      throw new KubeError('unreachable', 'the connection broke');
    });
    await stage.giveTurn();
    await stage.pass(0.5);
    assert.equal(lost, 1);
    assert.equal((await stage.status()).hostConfigHash, wanted);
    assert.equal(stage.work.jobs.length, 2, 'the fleet may have given the turn to another one by now');
  });

  it('is not pushed to when its turn was just revoked', async (t) => {
    const stage = await createHarness(t);
    await drifting(stage);
    // The cache is stale.
    stage.interpose((send) => async (request) => {
      if (request.method === 'GET' && request.path.includes('/macfleets/runners'))
        await stage.meanwhile(() => stage.setTurns([]));
      return send(request);
    });
    await stage.giveTurn();
    await stage.pass(2);
    assert.equal(stage.work.jobs.length, 1);
  });

  it('is not pushed to in a turn for another hash or another UID', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    await stage.giveTurn({ hash: 'something else' });
    await stage.pass(1);
    const turn = {
      machine: 'mac-1',
      uid: 'an earlier one',
      hash: wanted,
      canary: true,
      grantedAt: '2026-01-01T00:00:00Z',
    };
    await stage.setTurns([{ ...turn, revision: 'r' }]);
    await stage.pass(1);
    assert.equal(stage.work.jobs.length, 1);
  });

  it('is not pushed to again before its agent has reported', async (t) => {
    const stage = await createHarness(t);
    await drifting(stage);
    await stage.giveTurn();
    await stage.pass(0.5);
    assert.equal(stage.work.jobs.length, 2);
    await stage.pass(1);
    assert.equal(stage.work.jobs.length, 3, 'it says the old one for too long');
  });

  it('reports the pushed hash when its agent does not start, so that the fleet can roll back', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    await stage.giveTurn();
    await stage.setNodeReady('Unknown');
    await stage.pass(5);
    assert.equal((await stage.status()).hostConfigHash, wanted);
    assert.equal((await stage.status()).ready, false);
    assert.equal(stage.work.jobs.length, 2);
  });
});

describe('steps that need an idle Mac', () => {
  const deferring = async (stage: Harness) => {
    const wanted = await drifting(stage);
    await stage.addPod();
    stage.work.next(async (job) => doneOutcome(job, { summary: 'half', deferred: [notIdle] }));
    await stage.giveTurn();
    return wanted;
  };

  it('wait behind a cordon until its Pods are gone (INC-04)', async (t) => {
    const stage = await createHarness(t);
    await deferring(stage);
    const first = stage.work.jobs[1];
    assert.ok(first?.task.kind === 'converge' && !first.task.idle);
    const node = await stage.node();
    assert.equal(node?.spec?.unschedulable, true);
    assert.ok(annotations.cordonedForRoll in (node.metadata.annotations ?? {}));
    assert.equal(await stage.reason('HostUpToDate'), 'WaitingForIdle');
    await stage.pass(5);
    assert.equal(stage.work.jobs.length, 2);
    await stage.removePod();
    await stage.pass(0.5);
    const second = stage.work.jobs[2];
    assert.ok(second?.task.kind === 'converge' && second.task.idle);
    await report(stage);
    const after = (await stage.node()) ?? assert.fail();
    assert.equal(after.spec?.unschedulable, undefined);
    assert.ok(!(annotations.cordonedForRoll in (after.metadata.annotations ?? {})));
  });

  it('do not touch a cordon of somebody else', async (t) => {
    const stage = await createHarness(t);
    await drifting(stage);
    await stage.patchNode({ spec: { unschedulable: true } });
    await stage.addPod();
    stage.work.next(async (job) => doneOutcome(job, { summary: 'half', deferred: [notIdle] }));
    await stage.giveTurn();
    assert.ok(!(annotations.cordonedForRoll in ((await stage.node())?.metadata.annotations ?? {})));
    await stage.removePod();
    await stage.pass(2);
    const job = stage.work.jobs[2];
    assert.ok(job?.task.kind === 'converge' && job.task.idle);
    await report(stage);
    await stage.pass(2);
    assert.equal((await stage.node())?.spec?.unschedulable, true);
  });

  it('do not keep the cordon after the turn', async (t) => {
    const stage = await createHarness(t);
    await deferring(stage);
    assert.equal((await stage.node())?.spec?.unschedulable, true);
    await stage.setTurns([]);
    await stage.pass(6);
    assert.equal((await stage.node())?.spec?.unschedulable, undefined);
  });

  it('ignore finished Pods', async (t) => {
    const stage = await createHarness(t);
    await deferring(stage);
    const body = { status: { phase: 'Succeeded' } };
    const name = { namespace: 'fleet', name: 'vm' };
    await stage.client.patch(pods, name, { type: 'merge', body }, { subresource: 'status' });
    await stage.pass(0.5);
    assert.equal(stage.work.jobs.length, 3);
  });
});

describe('a failed roll', () => {
  it('is retried, then held for the cooldown, then retried, when the Mac rejects it', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    stage.work.next(rejected, rejected);
    await stage.giveTurn();
    let status = await stage.status();
    assert.equal(status.lastAttempt?.count, 1);
    assert.equal(status.failedHostConfigHash, undefined);
    assert.match((await stage.condition('HostUpToDate'))?.message ?? '', /Attempt 1 was refused: it does not start/);
    await stage.pass(1.25);
    status = await stage.status();
    assert.equal(status.failedHostConfigHash, wanted);
    assert.equal(status.phase, 'Failed');
    assert.equal(status.ready, true, 'it runs on with what it had');
    assert.deepEqual(await stage.condition('HostUpToDate'), {
      status: 'False',
      reason: 'RollRejected',
      message: 'it does not start',
    });
    await stage.pass(20);
    assert.equal((await stage.status()).phase, 'Failed');
    assert.equal(stage.work.jobs.length, 3);
    await stage.pass(15);
    assert.ok((await stage.events()).includes('AgentRollRetried'));
    assert.ok(stage.work.jobs.length >= 4);
    assert.equal((await stage.status()).hostConfigHash, wanted);
  });

  it('is cleared when another hash is desired', async (t) => {
    const stage = await createHarness(t, { update: { giveUpAfter: 1, retryAfterMs: undefined } });
    await drifting(stage);
    stage.work.next(rejected);
    await stage.giveTurn();
    assert.equal((await stage.status()).phase, 'Failed');
    await stage.release('agent-3');
    const status = await stage.status();
    assert.equal(status.failedHostConfigHash, undefined);
    assert.equal(status.lastAttempt, undefined);
    await stage.giveTurn();
    assert.equal(stage.work.jobs.length, 3);
  });

  for (const outcome of [
    unreachable,
    { kind: 'host key changed', message: 'another key' },
    { kind: 'not wiped', message: 'm', hostKey: 'k' },
  ] satisfies WorkOutcome[])
    it(`because of "${outcome.kind}" says nothing against what was sent (INC-13)`, async (t) => {
      const stage = await createHarness(t);
      await drifting(stage);
      stage.work.next(outcome);
      await stage.giveTurn();
      const status = await stage.status();
      assert.equal(status.lastAttempt?.count, 0);
      assert.equal(status.failedHostConfigHash, undefined);
      assert.equal(await stage.reason('HostUpToDate'), 'RollUnreachable');
      await stage.setTurns([]);
      await stage.pass(2);
      assert.equal(await stage.reason('HostUpToDate'), 'RollUnreachable', 'so that the fleet can see it');
      await stage.pass(5);
      assert.equal(await stage.reason('HostUpToDate'), 'WaitingForTurn');
      assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
    });

  it('counts as rejected when the Mac reports another hash without an error', async (t) => {
    const stage = await createHarness(t);
    await drifting(stage);
    stage.work.next(async (job) => doneOutcome(job, { summary: 'other' }));
    await stage.giveTurn();
    assert.equal((await stage.status()).lastAttempt?.count, 1);
  });

  it('of an optional step is tolerated, and that step is retried later', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    stage.work.next(async (job) => doneOutcome(job, { summary: 'other', optionalFailures: ['node-exporter: no'] }));
    await stage.giveTurn();
    const { lastAttempt, leftOut } = await stage.status();
    assert.deepEqual([lastAttempt?.count, leftOut?.desired, leftOut?.actual], [0, wanted, 'other']);
    const tried = Promise.withResolvers<void>();
    const pushes = stage.work.jobs.length;
    await report(stage);
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, pushes);
    assert.equal(await stage.reason('HostUpToDate'), 'UpToDate');
    assert.match((await stage.condition('HostUpToDate'))?.message ?? '', /node-exporter: no/);
    stage.work.next(async (job) => {
      tried.resolve();
      return doneOutcome(job);
    });
    await stage.pass(30);
    await tried.promise;
    assert.equal((await stage.status()).leftOut, undefined);
  });

  it('is rolled back once when the fleet requests it', async (t) => {
    const stage = await createHarness(t);
    const wanted = await drifting(stage);
    await stage.giveTurn();
    await stage.setNodeReady('Unknown');
    await stage.giveTurn({ rollBack: true, hash: wanted });
    await stage.pass(2);
    assert.deepEqual(
      stage.work.jobs.map(({ task }) => task.kind),
      ['converge', 'converge', 'roll back'],
    );
    const status = await stage.status();
    assert.equal(status.failedHostConfigHash, wanted);
    assert.equal(status.hostConfigHash, 'what it had before');
    assert.equal(status.phase, 'Failed');
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, 3);
  });
});
