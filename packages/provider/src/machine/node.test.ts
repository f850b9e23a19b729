import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timestamp } from '@tartan/kube/clock';
import { createHarness } from './testing/harness.ts';

const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;

describe('status.ready, status.phase and status.addresses', () => {
  it('follow the Node', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.setNodeReady('False');
    assert.deepEqual([(await harness.status()).ready, (await harness.status()).phase], [false, 'NotReady']);
    assert.equal(await harness.reason('Ready'), 'NodeNotReady');
    assert.deepEqual(await harness.condition('NodeReady'), {
      status: 'False',
      reason: 'NodeNotReady',
      message: 'ready is False',
    });
    await harness.setNodeReady('Unknown');
    assert.equal(await harness.reason('NodeReady'), 'NodeUnknown');
    await harness.setNodeReady('True');
    assert.deepEqual([(await harness.status()).ready, (await harness.status()).phase], [true, 'Ready']);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('follow the server status of the Mac', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.setHostStatus({ serverStatus: 'rebooting', ip: '10.0.0.2:2222' });
    const status = await harness.status();
    assert.equal(status.ready, false);
    assert.equal(status.phase, 'NotReady');
    assert.deepEqual(await harness.condition('Ready'), {
      status: 'False',
      reason: 'HostNotRunning',
      message: 'Scaleway says that the Mac is in state rebooting.',
    });
    assert.deepEqual(status.addresses?.[0], { type: 'ExternalIP', address: '10.0.0.2' });
    await harness.setHostStatus({ serverStatus: 'ready' });
    assert.equal((await harness.status()).ready, true);
  });

  it('ignore a Node of another server', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.claimed();
    await harness.addNode({ providerID: 'scw-applesilicon://fr-par-1/other' });
    await harness.pass(10);
    assert.equal((await harness.status()).ready, false);
    assert.match((await harness.condition('NodeReady'))?.message ?? '', /another server/);
    assert.equal(harness.work.jobs.length, 1, 'to register again would not help');
  });

  it('are not written again when nothing changed', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.pass(2);
    const before = harness.writes.length;
    await harness.pass(20);
    assert.deepEqual(harness.writes.slice(before), []);
  });
});

describe('a deleted Node', () => {
  it('is registered again after two minutes, without a bootstrap (INC-35)', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.renewLease();
    await harness.removeNode();
    await harness.pass(1.75);
    assert.equal(harness.work.jobs.length, 1, 'the agent comes back by itself');
    assert.equal((await harness.status()).ready, false);
    await harness.pass(0.5);
    assert.equal(harness.work.jobs.length, 2);
    const job = harness.work.jobs[1];
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.mode, 'verify');
    assert.equal(job.task.idle, false, 'virtual machines may run');
    assert.equal(job.task.secrets.joinKubeconfig, undefined, 'its certificate is good');
    const status = await harness.status();
    assert.equal(status.lastAttempt?.count, 0);
    assert.equal(status.initialization?.provisioned, true);
    assert.ok((await harness.events()).includes('Reregistered'));
    assert.equal(await harness.reason('Bootstrapped'), 'NodeMissing');
    await harness.addNode();
    assert.equal((await harness.status()).ready, true);
    assert.equal(await harness.reason('Bootstrapped'), 'Bootstrapped');
  });

  it('is not registered again when it comes back before the push', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.removeNode();
    let back = false;
    // The watch is late: the Node registers right before the live read.
    harness.interpose((send) => async (request) => {
      if (!back && request.method === 'GET' && request.path.startsWith('/api/v1/nodes/mac-1')) {
        back = true;
        await harness.meanwhile(() => harness.addNode({ summary: 'x' }));
      }
      return send(request);
    });
    await harness.pass(3);
    assert.ok(back);
    assert.equal(harness.work.jobs.length, 1);
  });

  it('is retried while the Mac is unreachable; the Mac is neither rebooted nor released (INC-13)', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.removeNode();
    harness.work.next(...Array.from({ length: 20 }, () => unreachable));
    await harness.pass(40);
    assert.ok(harness.work.jobs.length > 5 && harness.work.jobs.length < 15, `${harness.work.jobs.length}`);
    assert.match(
      (await harness.condition('Bootstrapped'))?.message ?? '',
      /could not make the agent register again: nobody answers/,
    );
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
  });
});

describe('the node certificate', () => {
  it('is issued again with new join credentials after it expired', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.renewLease();
    await harness.pass(70);
    assert.deepEqual(await harness.tokens(), [], 'the first token has ended long ago');
    await harness.setNodeReady('Unknown');
    await harness.setStatus({ certificateExpires: timestamp(harness.clock.now() + 60_000) });
    harness.work.next(unreachable);
    await harness.pass(12);
    assert.equal(harness.work.jobs.length, 3, 'it is off, and then it is on again');
    const job = harness.work.jobs[2];
    assert.ok(job?.task.kind === 'converge');
    const { joinTokenID, joinVersion } = await harness.status();
    assert.ok(joinTokenID);
    assert.equal(job.task.spec.agent.joinVersion, joinTokenID);
    assert.match(job.task.secrets.joinKubeconfig ?? '', new RegExp(joinTokenID));
    assert.equal(joinVersion, joinTokenID);
    await harness.pass(10);
    assert.equal(harness.work.jobs.length, 3, 'it has what it needs');
  });

  it('shows which join credentials the Mac has when the outcome of the push was lost', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.renewLease();
    await harness.pass(70);
    await harness.setNodeReady('Unknown');
    await harness.setStatus({ certificateExpires: timestamp(harness.clock.now() + 60_000) });
    harness.work.next(unreachable);
    await harness.pass(6);
    assert.equal(harness.work.jobs.length, 2);
    const { joinTokenID = '', joinVersion } = await harness.status();
    assert.ok(joinTokenID !== '' && joinTokenID !== joinVersion);
    await harness.issueCertificate(joinTokenID);
    await harness.renewLease();
    await harness.setNodeReady('True');
    await harness.pass(1);
    const status = await harness.status();
    assert.equal(status.joinTokenID, undefined);
    assert.equal(status.joinVersion, joinTokenID);
  });

  it('lets the join token be deleted once the Node renews its Lease', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    const { joinTokenID = '' } = await harness.status();
    await harness.pass(1);
    assert.deepEqual(await harness.tokens(), [`bootstrap-token-${joinTokenID}`]);
    const expires = await harness.issueCertificate(joinTokenID);
    await harness.pass(1);
    assert.equal((await harness.status()).joinTokenID, joinTokenID, 'nobody has used it yet');
    await harness.renewLease();
    await harness.pass(1);
    const status = await harness.status();
    assert.equal(status.joinTokenID, undefined);
    assert.equal(status.certificateExpires, expires);
    assert.deepEqual(await harness.tokens(), []);
    assert.equal(status.joinVersion, joinTokenID, 'what the Mac has');
  });
});
