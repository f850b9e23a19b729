import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timestamp } from '@tartan/kube/clock';
import { setStage } from './testing/stage.ts';

const unreachable = { kind: 'unreachable', message: 'nobody answers' } as const;

describe('ready, phase and addresses of a machine', () => {
  it('follow its Node', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.setNodeReady('False');
    assert.deepEqual([(await stage.status()).ready, (await stage.status()).phase], [false, 'NotReady']);
    assert.equal(await stage.reason('Ready'), 'NodeNotReady');
    assert.deepEqual(await stage.said('NodeReady'), {
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

  it('follow its Mac', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.setHostStatus({ serverStatus: 'rebooting', ip: '10.0.0.2:2222' });
    const status = await stage.status();
    assert.equal(status.ready, false);
    assert.equal(status.phase, 'NotReady');
    assert.deepEqual(await stage.said('Ready'), {
      status: 'False',
      reason: 'HostNotRunning',
      message: 'Scaleway says that the Mac is in state rebooting.',
    });
    assert.deepEqual(status.addresses?.[0], { type: 'ExternalIP', address: '10.0.0.2' });
    await stage.setHostStatus({ serverStatus: 'ready' });
    assert.equal((await stage.status()).ready, true);
  });

  it('do not follow a Node of another server', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.claimed();
    await stage.addNode({ providerID: 'scw-applesilicon://fr-par-1/other' });
    await stage.pass(10);
    assert.equal((await stage.status()).ready, false);
    assert.match((await stage.said('NodeReady'))?.message ?? '', /another server/);
    assert.equal(stage.work.jobs.length, 1, 'to register again would not help');
  });

  it('are written once: nothing new is nothing written', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.pass(2);
    const before = stage.writes.length;
    await stage.pass(20);
    assert.deepEqual(stage.writes.slice(before), []);
  });
});

describe('a Node that somebody deleted', () => {
  it('is registered again after two minutes, by the light way (INC-35)', async (t) => {
    const stage = await setStage(t);
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
    assert.equal(status.bootstrapAttempts, undefined);
    assert.equal(status.initialization?.provisioned, true);
    assert.ok((await stage.events()).includes('Reregistered'));
    assert.equal(await stage.reason('Bootstrapped'), 'NodeMissing');
    await stage.addNode();
    assert.equal((await stage.status()).ready, true);
    assert.equal(await stage.reason('Bootstrapped'), 'Bootstrapped');
  });

  it('is not missed when it is back before anything is sent', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.removeNode();
    let back = false;
    // The watch is late: the Node registers right before the server is asked.
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

  it('is tried again while its Mac does not answer, and never more than that (INC-13)', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.removeNode();
    stage.work.next(...Array.from({ length: 20 }, () => unreachable));
    await stage.pass(40);
    assert.ok(stage.work.jobs.length > 5 && stage.work.jobs.length < 15, `${stage.work.jobs.length}`);
    assert.match((await stage.said('Bootstrapped'))?.message ?? '', /could not be told: nobody answers/);
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
  });
});

describe('the identity of a Mac', () => {
  it('that has expired is made anew, by a new join', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.renewLease();
    await stage.pass(70);
    assert.deepEqual(await stage.tokens(), [], 'the first token has ended long ago');
    await stage.setNodeReady('Unknown');
    await stage.remember({ certificateExpires: timestamp(stage.clock.now() + 60_000) });
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

  it('tells which credentials a Mac has, when nobody heard how the push ended that brought them', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.renewLease();
    await stage.pass(70);
    await stage.setNodeReady('Unknown');
    await stage.remember({ certificateExpires: timestamp(stage.clock.now() + 60_000) });
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

  it('retires its token once it renews its Lease', async (t) => {
    const stage = await setStage(t);
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
