import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, machine as machineKind } from '@tartan/api';
import { getCondition, KubeError, secrets, type Transport } from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const refusingSecrets =
  (send: Transport['send']): Transport['send'] =>
  async (request) => {
    if (request.method !== 'GET' && request.path.includes('/secrets')) throw new KubeError('forbidden', 'It may not.');
    return send(request);
  };

describe('the login of a Mac', () => {
  it('is stored as Scaleway reports it, for this server', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.claimed();
    assert.deepEqual(await harness.secretText(), { password: 'hunter2', username: 'm1', hostKey: 'SHA256:first' });
    assert.equal((await harness.secret())?.metadata.annotations?.[annotations.serverID], 'server-1');
    const [job] = harness.work.jobs;
    assert.ok(job?.task.kind === 'converge');
    assert.equal(job.task.secrets.userPassword, 'hunter2');
    assert.equal(job.user, 'm1');
  });

  for (const password of ['<sealed>', ''])
    it(`treats ${password || 'an empty string'} as no password, never stores it, and says what to do`, async (t) => {
      const harness = await createHarness(t);
      await harness.addHost('server-1', password);
      await harness.start();
      await harness.addMachine();
      await harness.rename();
      assert.equal(await harness.reason('Bootstrapped'), 'MissingSudoPassword');
      assert.deepEqual(await harness.secretText(), { password: undefined, username: 'm1', hostKey: undefined });
      assert.equal(harness.work.jobs.length, 0);
      await harness.putPassword('by hand');
      await harness.settle();
      assert.equal((await harness.status()).initialization?.provisioned, true);
      assert.equal((await harness.secretText()).password, 'by hand');
    });

  it('is read again later; finding the password emits an event', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost('server-1', '');
    await harness.start();
    await harness.addMachine();
    await harness.rename();
    assert.equal(harness.pool.asked.length, 1);
    await harness.pass(4);
    assert.equal(harness.pool.asked.length, 1, 'not every moment');
    harness.pool.set('server-1', 'found');
    await harness.pass(2);
    assert.equal((await harness.secretText()).password, 'found');
    assert.ok((await harness.events()).includes('CredentialsReclaimed'));
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  const unreadable = new ScalewayError('It may not be read.', { kind: 'denied' });
  const lacking: [what: string, prepare: (harness: Harness) => unknown, reads: number][] = [
    ['Scaleway has no password', ({ pool }) => pool.set('server-1', ''), 4],
    ['Scaleway refuses the read', ({ pool }) => pool.fail('server-1', unreadable), 15],
    ['the Secret may not be written', (harness) => harness.interpose(refusingSecrets), 15],
  ];
  for (const [what, prepare, reads] of lacking)
    it(`is read less and less often while ${what}`, async (t) => {
      const harness = await createHarness(t);
      await harness.addHost();
      prepare(harness);
      await harness.start();
      await harness.addMachine();
      await harness.rename();
      const reason = await harness.reason('Ready');
      await harness.pass(60);
      assert.equal(harness.pool.asked.length, reads, 'in an hour');
      assert.equal(await harness.reason('Ready'), reason);
    });

  it('is read less and less often while a provisioned machine has none', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    harness.pool.fail('server-1', unreadable);
    await harness.client.delete(secrets, { namespace: 'tuist', name: 'mac-1-bootstrap' });
    const before = harness.pool.asked.length;
    await harness.pass(60);
    assert.equal(harness.pool.asked.length - before, 15, 'in an hour');
  });

  it('is read soon when the machine has changed, and at once when the Secret was deleted', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost('server-1', '');
    await harness.start();
    await harness.addMachine();
    await harness.rename();
    await harness.pass(20);
    const { length } = harness.pool.asked;
    await harness.patchMachine({ metadata: { annotations: { poke: '' } } });
    assert.equal(harness.pool.asked.length, length, 'not by each trigger');
    await harness.patchMachine({ spec: { maxPods: 1 } });
    assert.equal(harness.pool.asked.length, length + 1);
    await harness.client.delete(secrets, { namespace: 'tuist', name: 'mac-1-bootstrap' });
    await harness.settle();
    assert.equal(harness.pool.asked.length, length + 2);
  });

  it('distinguishes a Scaleway error from a missing password', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addHost();
    harness.pool.fail('server-1', new ScalewayError('It is down.', { kind: 'unavailable' }));
    await harness.addMachine();
    await harness.rename();
    assert.deepEqual(await harness.condition('Bootstrapped'), {
      status: 'False',
      reason: 'CredentialsRefreshFailed',
      message: 'It is down.',
    });
    assert.equal(await harness.secret(), undefined);
    harness.pool.set('server-1');
    await harness.pass(1);
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('is stored again when the Secret was deleted, without changing conditions', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    const { metadata } = (await harness.secret()) ?? assert.fail();
    const { namespace = '', name } = metadata;
    await harness.client.delete(secrets, { namespace, name });
    await harness.pass(6);
    const { password, hostKey } = await harness.secretText();
    assert.deepEqual([password, hostKey], ['hunter2', (await harness.status()).hostKey]);
    assert.notEqual(hostKey, undefined, 'or the Mac would be taken for one that was not wiped');
    assert.equal((await harness.status()).ready, true);
  });

  it('is never read from or written to the Secret of a namesake in another namespace', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    const victim = await harness.secret();
    const pushes = harness.work.jobs.length;
    await harness.addHost('server-2', 'other');
    const elsewhere = { name: 'mac-1', namespace: 'kube-system' };
    const metadata = { ...elsewhere, ...(await clusterMember(harness.client, elsewhere)) };
    const namesake = machineKind.make({ metadata, spec: { fleetName: 'runners' } });
    await harness.client.create(machineKind.resource, namesake);
    await harness.settle();
    await harness.rename('server-2');
    await harness.pass(2);
    assert.equal((await harness.secret())?.metadata.resourceVersion, victim?.metadata.resourceVersion);
    assert.equal(harness.work.jobs.length, pushes);
    const { status } = await harness.client.get(machineKind.resource, elsewhere);
    const { reason, message } = getCondition(status?.conditions, 'Provisioned') ?? {};
    assert.equal(reason, 'NodeNameTaken');
    assert.match(message ?? '', /The Node mac-1 is another server/);
  });
});

describe('the host key of a Mac', () => {
  it('is stored before the first change and required from then on', async (t) => {
    const harness = await createHarness(t);
    let storedAtFirst: (string | number | undefined)[] = [];
    harness.work.next(async (job) => {
      await job.pin('SHA256:met');
      storedAtFirst = [(await harness.secretText()).hostKey, (await harness.status()).hostKeyEpoch];
      return { kind: 'rejected', step: 'power', message: 'no' };
    });
    await harness.start();
    await harness.claimed();
    assert.deepEqual(storedAtFirst, ['SHA256:met', 1]);
    await harness.pass(2);
    assert.deepEqual(
      harness.work.jobs.map(({ pinnedHostKey }) => pinnedHostKey),
      [undefined, 'SHA256:met'],
    );
  });

  it('is not trusted when it belongs to an earlier install', async (t) => {
    const harness = await createHarness(t);
    harness.work.next({ kind: 'rejected', step: 'power', message: 'no' });
    await harness.start();
    await harness.claimed();
    assert.equal((await harness.status()).hostKeyEpoch, 1);
    await harness.setHostStatus({ installs: 2, retiredHostKeys: ['SHA256:first'] });
    await harness.pass(2);
    assert.equal(harness.work.jobs[1]?.pinnedHostKey, undefined);
    assert.deepEqual(harness.work.jobs[1]?.retiredHostKeys, ['SHA256:first']);
    assert.equal((await harness.status()).hostKeyEpoch, 2);
  });

  it('is trusted from the Secret of this machine and server when the status was lost', async (t) => {
    const harness = await createHarness(t);
    // The process dies right after the Secret was written.
    harness.work.next(async (job) => {
      harness.interpose((send) => async (request) => {
        if (request.body?.includes('hostKeyEpoch') === true) throw new Error('dead');
        return send(request);
      });
      await job.pin('SHA256:first');
      return { kind: 'aborted' };
    });
    await harness.start();
    await harness.claimed();
    assert.equal((await harness.secretText()).hostKey, 'SHA256:first');
    harness.interpose((send) => send);
    await harness.restart();
    await harness.pass(1);
    assert.equal(harness.work.jobs[1]?.pinnedHostKey, 'SHA256:first');
  });
});
