import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timestamp } from '@tartan/kube/clock';
import { createHarness } from './testing/harness.ts';

const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;

describe('status.ready, status.phase and status.addresses', () => {
  it('follow the Node', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.setNodeReady('False');
    assert.deepEqual([(await stage.status()).ready, (await stage.status()).phase], [false, 'NotReady']);
    assert.equal(await stage.reason('Ready'), 'NodeNotReady');
    assert.deepEqual(await stage.condition('NodeReady'), {
      status: 'False',
      reason: 'NodeNotReady',
      message: 'ready is False',
    });
    await stage.setNodeReady('Unknown');
    assert.equal(await stage.reason('NodeReady'), 'NodeUnknown');
    await stage.setNodeReady('True');
    assert.deepEqual([(await stage.status()).ready, (await stage.status()).phase], [true, 'Ready']);
    assert.equal((await stage.status()).initialization?.provisioned, true);
  });

  it('follow the server status of the Mac', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.setHostStatus({ serverStatus: 'rebooting', ip: '10.0.0.2:2222' });
    const status = await stage.status();
    assert.equal(status.ready, false);
    assert.equal(status.phase, 'NotReady');
    assert.deepEqual(await stage.condition('Ready'), {
      status: 'False',
      reason: 'HostNotRunning',
      message: 'Scaleway says that the Mac is in state rebooting.',
    });
    assert.deepEqual(status.addresses?.[0], { type: 'ExternalIP', address: '10.0.0.2' });
    await stage.setHostStatus({ serverStatus: 'ready' });
    assert.equal((await stage.status()).ready, true);
  });

  it('ignore a Node of another server', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.claimed();
    await stage.addNode({ providerID: 'scw-applesilicon://fr-par-1/other' });
    await stage.pass(10);
    assert.equal((await stage.status()).ready, false);
    assert.match((await stage.condition('NodeReady'))?.message ?? '', /another server/);
    assert.equal(stage.work.jobs.length, 1, 'to register again would not help');
  });

  it('are not written again when nothing changed', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.pass(2);
    const before = stage.writes.length;
    await stage.pass(20);
    assert.deepEqual(stage.writes.slice(before), []);
  });
});

describe('a deleted Node', () => {
  it('is registered again after two minutes, without a bootstrap (INC-35)', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.renewLease();
    await stage.removeNode();
    await stage.pass(1.75);
    assert.equal(stage.work.jobs.length, 1, 'the agent comes back by itself');
    assert.equal((await stage.status()).ready, false);
    await stage.pass(0.5);
    assert.equal(stage.work.jobs.length, 2);
    const job = stage.work.jobs[1];
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.mode, 'verify');
    assert.equal(job.task.idle, false, 'virtual machines may run');
    assert.equal(job.task.secrets.joinKubeconfig, undefined, 'its certificate is good');
    const status = await stage.status();
    assert.equal(status.lastAttempt?.count, 0);
    assert.equal(status.initialization?.provisioned, true);
    assert.ok((await stage.events()).includes('Reregistered'));
    assert.equal(await stage.reason('Bootstrapped'), 'NodeMissing');
    await stage.addNode();
    assert.equal((await stage.status()).ready, true);
    assert.equal(await stage.reason('Bootstrapped'), 'Bootstrapped');
  });

  it('is not registered again when it comes back before the push', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.removeNode();
    let back = false;
    // The watch is late: the Node registers right before the live read.
    stage.interpose((send) => async (request) => {
      if (!back && request.method === 'GET' && request.path.startsWith('/api/v1/nodes/mac-1')) {
        back = true;
        await stage.meanwhile(() => stage.addNode({ summary: 'x' }));
      }
      return send(request);
    });
    await stage.pass(3);
    assert.ok(back);
    assert.equal(stage.work.jobs.length, 1);
  });

  it('is retried while the Mac is unreachable; the Mac is neither rebooted nor released (INC-13)', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.removeNode();
    stage.work.next(...Array.from({ length: 20 }, () => unreachable));
    await stage.pass(40);
    assert.ok(stage.work.jobs.length > 5 && stage.work.jobs.length < 15, `${stage.work.jobs.length}`);
    assert.match(
      (await stage.condition('Bootstrapped'))?.message ?? '',
      /could not make the agent register again: nobody answers/,
    );
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
  });
});

describe('the node certificate', () => {
  it('is issued again with new join credentials after it expired', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.renewLease();
    await stage.pass(70);
    assert.deepEqual(await stage.tokens(), [], 'the first token has ended long ago');
    await stage.setNodeReady('Unknown');
    await stage.setStatus({ certificateExpires: timestamp(stage.clock.now() + 60_000) });
    stage.work.next(unreachable);
    await stage.pass(12);
    assert.equal(stage.work.jobs.length, 3, 'it is off, and then it is on again');
    const job = stage.work.jobs[2];
    assert.ok(job?.task.kind === 'converge');
    const { joinTokenID, joinVersion } = await stage.status();
    assert.ok(joinTokenID);
    assert.equal(job.task.spec.agent.joinVersion, joinTokenID);
    assert.match(job.task.secrets.joinKubeconfig ?? '', new RegExp(joinTokenID));
    assert.equal(joinVersion, joinTokenID);
    await stage.pass(10);
    assert.equal(stage.work.jobs.length, 3, 'it has what it needs');
  });

  it('shows which join credentials the Mac has when the outcome of the push was lost', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.renewLease();
    await stage.pass(70);
    await stage.setNodeReady('Unknown');
    await stage.setStatus({ certificateExpires: timestamp(stage.clock.now() + 60_000) });
    stage.work.next(unreachable);
    await stage.pass(6);
    assert.equal(stage.work.jobs.length, 2);
    const { joinTokenID = '', joinVersion } = await stage.status();
    assert.ok(joinTokenID !== '' && joinTokenID !== joinVersion);
    await stage.issueCertificate(joinTokenID);
    await stage.renewLease();
    await stage.setNodeReady('True');
    await stage.pass(1);
    const status = await stage.status();
    assert.equal(status.joinTokenID, undefined);
    assert.equal(status.joinVersion, joinTokenID);
  });

  it('lets the join token be deleted once the Node renews its Lease', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    const { joinTokenID = '' } = await stage.status();
    await stage.pass(1);
    assert.deepEqual(await stage.tokens(), [`bootstrap-token-${joinTokenID}`]);
    const expires = await stage.issueCertificate(joinTokenID);
    await stage.pass(1);
    assert.equal((await stage.status()).joinTokenID, joinTokenID, 'nobody has used it yet');
    await stage.renewLease();
    await stage.pass(1);
    const status = await stage.status();
    assert.equal(status.joinTokenID, undefined);
    assert.equal(status.certificateExpires, expires);
    assert.deepEqual(await stage.tokens(), []);
    assert.equal(status.joinVersion, joinTokenID, 'what the Mac has');
  });
});
