import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations } from '@tartan/api';
import { KubeError, pods } from '@tartan/kube';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { doneOutcome } from './testing/fakes.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const rejected = { kind: 'rejected', step: 'agent-job', message: 'it does not start' } as const;
const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;
const notIdle = { step: 'tart', reason: 'the host is not idle' };

/** The agent restarts and reports its state. */
const report = async (harness: Harness): Promise<void> => {
  const { hostConfigHash } = await harness.status();
  await harness.patchNode({ metadata: { annotations: { [annotations.hostConfigHash]: hostConfigHash } } });
};

const drifting = async (harness: Harness): Promise<string> => {
  await harness.start();
  await harness.living();
  await harness.release('agent-2');
  return (await harness.status()).desiredHostConfigHash ?? assert.fail();
};

describe('a Mac with a new desired state', () => {
  it('waits for its turn, is rolled, and reports UpToDate', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    assert.notEqual((await harness.status()).hostConfigHash, wanted);
    assert.equal(await harness.reason('HostUpToDate'), 'WaitingForTurn');
    assert.equal((await harness.status()).phase, 'Ready');
    await harness.pass(20);
    assert.equal(harness.work.jobs.length, 1, 'nothing is pushed without a turn');
    await harness.giveTurn();
    assert.equal(harness.work.jobs.length, 2);
    const job = harness.work.jobs[1];
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.mode, 'changed');
    assert.equal(job.pinnedHostKey, 'SHA256:first');
    assert.equal(job.task.spec.agent.providerID, 'scw-applesilicon://fr-par-1/server-1');
    assert.equal(job.task.secrets.joinKubeconfig, undefined);
    const status = await harness.status();
    assert.equal(status.hostConfigHash, wanted);
    assert.equal(await harness.reason('HostUpToDate'), 'UpToDate');
    assert.ok((await harness.events()).includes('AgentRolled'));
    await report(harness);
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, 2);
    assert.equal((await harness.status()).phase, 'Ready');
  });

  it('is not pushed to twice when the answer to the status write is lost', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    let lost = 0;
    harness.interpose((send) => async (request) => {
      const answer = await send(request);
      if (lost > 0 || request.method !== 'PATCH' || !request.body?.includes('"hostConfigHash"')) return answer;
      lost += 1;
      throw new KubeError('unreachable', 'the connection broke');
    });
    await harness.giveTurn();
    await harness.pass(0.5);
    assert.equal(lost, 1);
    assert.equal((await harness.status()).hostConfigHash, wanted);
    assert.equal(harness.work.jobs.length, 2, 'the fleet may have given the turn to another one by now');
  });

  it('is not pushed to when its turn was just revoked', async (t) => {
    const harness = await createHarness(t);
    await drifting(harness);
    // The cache is stale.
    harness.interpose((send) => async (request) => {
      if (request.method === 'GET' && request.path.includes('/macfleets/runners'))
        await harness.meanwhile(() => harness.setTurns([]));
      return send(request);
    });
    await harness.giveTurn();
    await harness.pass(2);
    assert.equal(harness.work.jobs.length, 1);
  });

  it('is not pushed to in a turn for another hash or another UID', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    await harness.giveTurn({ hash: 'something else' });
    await harness.pass(1);
    const turn = {
      machine: 'mac-1',
      uid: 'an earlier one',
      hash: wanted,
      canary: true,
      grantedAt: '2026-01-01T00:00:00Z',
    };
    await harness.setTurns([{ ...turn, revision: 'r' }]);
    await harness.pass(1);
    assert.equal(harness.work.jobs.length, 1);
  });

  it('is not pushed to again before its agent has reported', async (t) => {
    const harness = await createHarness(t);
    await drifting(harness);
    await harness.giveTurn();
    await harness.pass(0.5);
    assert.equal(harness.work.jobs.length, 2);
    await harness.pass(1);
    assert.equal(harness.work.jobs.length, 3, 'it says the old one for too long');
  });

  it('reports the pushed hash when its agent does not start, so that the fleet can roll back', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    await harness.giveTurn();
    await harness.setNodeReady('Unknown');
    await harness.pass(5);
    assert.equal((await harness.status()).hostConfigHash, wanted);
    assert.equal((await harness.status()).ready, false);
    assert.equal(harness.work.jobs.length, 2);
  });
});

describe('steps that need an idle Mac', () => {
  const deferring = async (harness: Harness) => {
    const wanted = await drifting(harness);
    await harness.addPod();
    harness.work.next(async (job) => doneOutcome(job, { summary: 'half', deferred: [notIdle] }));
    await harness.giveTurn();
    return wanted;
  };

  it('wait behind a cordon until its Pods are gone (INC-04)', async (t) => {
    const harness = await createHarness(t);
    await deferring(harness);
    const first = harness.work.jobs[1];
    assert.ok(first?.task.kind === 'converge' && !first.task.idle);
    const node = await harness.node();
    assert.equal(node?.spec?.unschedulable, true);
    assert.ok(annotations.cordonedForRoll in (node.metadata.annotations ?? {}));
    assert.equal(await harness.reason('HostUpToDate'), 'WaitingForIdle');
    await harness.pass(5);
    assert.equal(harness.work.jobs.length, 2);
    await harness.removePod();
    await harness.pass(0.5);
    const second = harness.work.jobs[2];
    assert.ok(second?.task.kind === 'converge' && second.task.idle);
    await report(harness);
    const after = (await harness.node()) ?? assert.fail();
    assert.equal(after.spec?.unschedulable, undefined);
    assert.ok(!(annotations.cordonedForRoll in (after.metadata.annotations ?? {})));
  });

  it('do not touch a cordon of somebody else', async (t) => {
    const harness = await createHarness(t);
    await drifting(harness);
    await harness.patchNode({ spec: { unschedulable: true } });
    await harness.addPod();
    harness.work.next(async (job) => doneOutcome(job, { summary: 'half', deferred: [notIdle] }));
    await harness.giveTurn();
    assert.ok(!(annotations.cordonedForRoll in ((await harness.node())?.metadata.annotations ?? {})));
    await harness.removePod();
    await harness.pass(2);
    const job = harness.work.jobs[2];
    assert.ok(job?.task.kind === 'converge' && job.task.idle);
    await report(harness);
    await harness.pass(2);
    assert.equal((await harness.node())?.spec?.unschedulable, true);
  });

  it('do not keep the cordon after the turn', async (t) => {
    const harness = await createHarness(t);
    await deferring(harness);
    assert.equal((await harness.node())?.spec?.unschedulable, true);
    await harness.setTurns([]);
    await harness.pass(6);
    assert.equal((await harness.node())?.spec?.unschedulable, undefined);
  });

  it('ignore finished Pods', async (t) => {
    const harness = await createHarness(t);
    await deferring(harness);
    const body = { status: { phase: 'Succeeded' } };
    const name = { namespace: 'fleet', name: 'vm' };
    await harness.client.patch(pods, name, { type: 'merge', body }, { subresource: 'status' });
    await harness.pass(0.5);
    assert.equal(harness.work.jobs.length, 3);
  });
});

describe('a failed roll', () => {
  it('is retried, then held for the cooldown, then retried, when the Mac rejects it', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    harness.work.next(rejected, rejected);
    await harness.giveTurn();
    let status = await harness.status();
    assert.equal(status.lastAttempt?.count, 1);
    assert.equal(status.failedHostConfigHash, undefined);
    assert.match((await harness.condition('HostUpToDate'))?.message ?? '', /Attempt 1 was refused: it does not start/);
    await harness.pass(1.25);
    status = await harness.status();
    assert.equal(status.failedHostConfigHash, wanted);
    assert.equal(status.phase, 'Failed');
    assert.equal(status.ready, true, 'it runs on with what it had');
    assert.deepEqual(await harness.condition('HostUpToDate'), {
      status: 'False',
      reason: 'RollRejected',
      message: 'it does not start',
    });
    await harness.pass(20);
    assert.equal((await harness.status()).phase, 'Failed');
    assert.equal(harness.work.jobs.length, 3);
    await harness.pass(15);
    assert.ok((await harness.events()).includes('AgentRollRetried'));
    assert.ok(harness.work.jobs.length >= 4);
    assert.equal((await harness.status()).hostConfigHash, wanted);
  });

  it('is cleared when another hash is desired', async (t) => {
    const harness = await createHarness(t, { update: { giveUpAfter: 1, retryAfterMs: undefined } });
    await drifting(harness);
    harness.work.next(rejected);
    await harness.giveTurn();
    assert.equal((await harness.status()).phase, 'Failed');
    await harness.release('agent-3');
    const status = await harness.status();
    assert.equal(status.failedHostConfigHash, undefined);
    assert.equal(status.lastAttempt, undefined);
    await harness.giveTurn();
    assert.equal(harness.work.jobs.length, 3);
  });

  for (const outcome of [
    unreachable,
    { kind: 'host key changed', message: 'another key' },
    { kind: 'not wiped', message: 'm', hostKey: 'k' },
  ] satisfies WorkOutcome[])
    it(`because of "${outcome.kind}" does not count against the revision (INC-13)`, async (t) => {
      const harness = await createHarness(t);
      await drifting(harness);
      harness.work.next(outcome);
      await harness.giveTurn();
      const status = await harness.status();
      assert.equal(status.lastAttempt?.count, 0);
      assert.equal(status.failedHostConfigHash, undefined);
      assert.equal(await harness.reason('HostUpToDate'), 'RollUnreachable');
      await harness.setTurns([]);
      await harness.pass(2);
      assert.equal(await harness.reason('HostUpToDate'), 'RollUnreachable', 'so that the fleet can see it');
      await harness.pass(5);
      assert.equal(await harness.reason('HostUpToDate'), 'WaitingForTurn');
      assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    });

  it('counts as rejected when the Mac reports another hash without an error', async (t) => {
    const harness = await createHarness(t);
    await drifting(harness);
    harness.work.next(async (job) => doneOutcome(job, { summary: 'other' }));
    await harness.giveTurn();
    assert.equal((await harness.status()).lastAttempt?.count, 1);
  });

  it('of an optional step is tolerated, and that step is retried later', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    harness.work.next(async (job) => doneOutcome(job, { summary: 'other', optionalFailures: ['node-exporter: no'] }));
    await harness.giveTurn();
    const { lastAttempt, leftOut } = await harness.status();
    assert.deepEqual([lastAttempt?.count, leftOut?.desired, leftOut?.actual], [0, wanted, 'other']);
    const tried = Promise.withResolvers<void>();
    const pushes = harness.work.jobs.length;
    await report(harness);
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, pushes);
    assert.equal(await harness.reason('HostUpToDate'), 'UpToDate');
    assert.match((await harness.condition('HostUpToDate'))?.message ?? '', /node-exporter: no/);
    harness.work.next(async (job) => {
      tried.resolve();
      return doneOutcome(job);
    });
    await harness.pass(30);
    await tried.promise;
    assert.equal((await harness.status()).leftOut, undefined);
  });

  it('is rolled back once when the fleet requests it', async (t) => {
    const harness = await createHarness(t);
    const wanted = await drifting(harness);
    await harness.giveTurn();
    await harness.setNodeReady('Unknown');
    await harness.giveTurn({ rollBack: true, hash: wanted });
    await harness.pass(2);
    assert.deepEqual(
      harness.work.jobs.map(({ task }) => task.kind),
      ['converge', 'converge', 'roll back'],
    );
    const status = await harness.status();
    assert.equal(status.failedHostConfigHash, wanted);
    assert.equal(status.hostConfigHash, 'what it had before');
    assert.equal(status.phase, 'Failed');
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, 3);
  });
});
