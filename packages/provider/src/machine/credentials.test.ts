import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, machine as machineKind } from '@tartan/api';
import { getCondition, secrets } from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { createHarness } from './testing/harness.ts';

describe('the login of a Mac', () => {
  it('is stored as Scaleway reports it, for this server', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.claimed();
    assert.deepEqual(await stage.secretText(), { password: 'hunter2', username: 'm1', hostKey: 'SHA256:first' });
    assert.equal((await stage.secret())?.metadata.annotations?.[annotations.serverID], 'server-1');
    const [job] = stage.work.jobs;
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.secrets.userPassword, 'hunter2');
    assert.equal(job.user, 'm1');
  });

  for (const password of ['<sealed>', ''])
    it(`takes ${password || 'an empty one'} for no password, never stores it, and says what to do`, async (t) => {
      const stage = await createHarness(t);
      await stage.addHost('server-1', password);
      await stage.start();
      await stage.addMachine();
      await stage.rename();
      assert.equal(await stage.reason('Bootstrapped'), 'MissingSudoPassword');
      assert.deepEqual(await stage.secretText(), { password: undefined, username: 'm1', hostKey: undefined });
      assert.equal(stage.work.jobs.length, 0);
      await stage.putPassword('by hand');
      await stage.pass(6);
      assert.equal((await stage.status()).initialization?.provisioned, true);
      assert.equal((await stage.secretText()).password, 'by hand');
    });

  it('is read again later; finding the password emits an event', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost('server-1', '');
    await stage.start();
    await stage.addMachine();
    await stage.rename();
    assert.equal(stage.pool.asked.length, 1);
    await stage.pass(4);
    assert.equal(stage.pool.asked.length, 1, 'not every moment');
    stage.pool.set('server-1', 'found');
    await stage.pass(2);
    assert.equal((await stage.secretText()).password, 'found');
    assert.ok((await stage.events()).includes('CredentialsReclaimed'));
    assert.equal((await stage.status()).initialization?.provisioned, true);
  });

  it('keeps a Scaleway error apart from a missing password', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.addHost();
    stage.pool.fail('server-1', new ScalewayError('It is down.', { kind: 'unavailable' }));
    await stage.addMachine();
    await stage.rename();
    assert.deepEqual(await stage.condition('Bootstrapped'), {
      status: 'False',
      reason: 'CredentialsRefreshFailed',
      message: 'It is down.',
    });
    assert.equal(await stage.secret(), undefined);
    stage.pool.set('server-1');
    await stage.pass(1);
    assert.equal((await stage.status()).initialization?.provisioned, true);
  });

  it('is stored again when the Secret was deleted, without changing conditions', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    const { metadata } = (await stage.secret()) ?? assert.fail();
    const { namespace = '', name } = metadata;
    await stage.client.delete(secrets, { namespace, name });
    await stage.pass(6);
    const { password, hostKey } = await stage.secretText();
    assert.deepEqual([password, hostKey], ['hunter2', (await stage.status()).hostKey]);
    assert.notEqual(hostKey, undefined, 'or the Mac would be taken for one that was not wiped');
    assert.equal((await stage.status()).ready, true);
  });

  it('is never read from or written to the Secret of a namesake in another namespace', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    const victim = await stage.secret();
    const pushes = stage.work.jobs.length;
    await stage.addHost('server-2', 'other');
    const elsewhere = { name: 'mac-1', namespace: 'kube-system' };
    const metadata = { ...elsewhere, ...(await clusterMember(stage.client, elsewhere)) };
    const namesake = machineKind.make({ metadata, spec: { fleetName: 'runners' } });
    await stage.client.create(machineKind.resource, namesake);
    await stage.settle();
    await stage.rename('server-2');
    await stage.pass(2);
    assert.equal((await stage.secret())?.metadata.resourceVersion, victim?.metadata.resourceVersion);
    assert.equal(stage.work.jobs.length, pushes);
    const { status } = await stage.client.get(machineKind.resource, elsewhere);
    const { reason, message } = getCondition(status?.conditions, 'Provisioned') ?? {};
    assert.equal(reason, 'NodeNameTaken');
    assert.match(message ?? '', /The Node mac-1 is another server/);
  });
});

describe('the host key of a Mac', () => {
  it('is stored before the first change and required from then on', async (t) => {
    const stage = await createHarness(t);
    let storedAtFirst: (string | number | undefined)[] = [];
    stage.work.next(async (job) => {
      await job.pin('SHA256:met');
      storedAtFirst = [(await stage.secretText()).hostKey, (await stage.status()).hostKeyEpoch];
      return { kind: 'rejected', step: 'power', message: 'no' };
    });
    await stage.start();
    await stage.claimed();
    assert.deepEqual(storedAtFirst, ['SHA256:met', 1]);
    await stage.pass(2);
    assert.deepEqual(
      stage.work.jobs.map(({ pinnedHostKey }) => pinnedHostKey),
      [undefined, 'SHA256:met'],
    );
  });

  it('is not trusted when it belongs to an earlier install', async (t) => {
    const stage = await createHarness(t);
    stage.work.next({ kind: 'rejected', step: 'power', message: 'no' });
    await stage.start();
    await stage.claimed();
    assert.equal((await stage.status()).hostKeyEpoch, 1);
    await stage.setHostStatus({ installs: 2, retiredHostKeys: ['SHA256:first'] });
    await stage.pass(2);
    assert.equal(stage.work.jobs[1]?.pinnedHostKey, undefined);
    assert.deepEqual(stage.work.jobs[1]?.retiredHostKeys, ['SHA256:first']);
    assert.equal((await stage.status()).hostKeyEpoch, 2);
  });

  it('is trusted from the Secret of this machine and server when the status was lost', async (t) => {
    const stage = await createHarness(t);
    // The process dies right after the Secret was written.
    stage.work.next(async (job) => {
      stage.interpose((send) => async (request) => {
        if (request.body?.includes('hostKeyEpoch') === true) throw new Error('dead');
        return send(request);
      });
      await job.pin('SHA256:first');
      return { kind: 'aborted' };
    });
    await stage.start();
    await stage.claimed();
    assert.equal((await stage.secretText()).hostKey, 'SHA256:first');
    stage.interpose((send) => send);
    await stage.restart();
    await stage.pass(1);
    assert.equal(stage.work.jobs[1]?.pinnedHostKey, 'SHA256:first');
  });
});
