import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers, kindNames, machine as machineKind, macHost } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { clusters, namespace, setStage, type Stage } from './testing/stage.ts';

const ofMachine = /scalewayapplesiliconmachines\/mac-1(\/status)?$/;
const ofHost = /machosts\/server-1$/;

const addCluster = (stage: Stage, more: object = {}) =>
  stage.client.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'macs', namespace },
    ...more,
  });

const provisionedCluster = { status: { initialization: { infrastructureProvisioned: true } } };
const ofTheCluster = { labels: { 'cluster.x-k8s.io/cluster-name': 'macs' } };
const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'mac-1', uid: 'u-1' };

describe('before a machine gets a Mac', () => {
  it('its finalizer is stored first', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    assert.deepEqual((await stage.get()).metadata.finalizers, [finalizers.machine]);
    const [first = ''] = stage.writes;
    assert.match(first, /PATCH .*scalewayapplesiliconmachines\/mac-1$/);
  });

  it('without its finalizer nothing is done', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    stage.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.body?.includes('finalizers') === true)
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await stage.start();
    await stage.addMachine();
    await stage.pass(2);
    assert.ok(stage.writes.length > 0);
    assert.ok(stage.writes.every((write) => /PATCH .*\/scalewayapplesiliconmachines\/mac-1$/.test(write)));
    assert.equal((await stage.host()).spec.consumerRef, undefined);
  });

  it('a pause is honoured: it is said, and nothing else happens until it is over', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine({}, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    await stage.pass(2);
    assert.equal(await stage.reason('Paused'), 'Paused');
    assert.equal((await stage.status()).serverID, undefined);
    await stage.patchMachine({ metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    assert.equal(await stage.reason('Paused'), 'NotPaused');
    assert.equal((await stage.status()).serverID, 'server-1');
  });

  it('it waits for its owner, for its Cluster, and for the infrastructure of that', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine({}, ofTheCluster);
    assert.match((await stage.said('Provisioned'))?.message ?? '', /no owner yet/);
    await stage.patchMachine({ metadata: { ownerReferences: [owner] } });
    assert.match((await stage.said('Provisioned'))?.message ?? '', /no Cluster macs/);
    await addCluster(stage, { spec: { paused: true }, ...provisionedCluster });
    await stage.settle();
    assert.equal(await stage.reason('Paused'), 'Paused', 'its Cluster is paused');
    const name = { namespace, name: 'macs' };
    await stage.client.patch(clusters, name, { type: 'merge', body: { spec: { paused: false } } });
    await stage.settle();
    assert.match((await stage.said('Provisioned'))?.message ?? '', /not provisioned yet/);
    assert.equal((await stage.status()).serverID, undefined);
    await stage.client.patch(clusters, name, { type: 'merge', body: provisionedCluster }, { subresource: 'status' });
    await stage.settle();
    assert.equal((await stage.status()).serverID, 'server-1');
  });

  it('a pool has to be known, and a family of macOS', async (t) => {
    const stage = await setStage(t, { defaultPoolPrefix: undefined });
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    assert.equal(await stage.reason('Provisioned'), 'NoAdoptPoolPrefix');
    await stage.patchMachine({ spec: { adoptPoolPrefix: 'tuist-pool-', os: 'macos-tahoe-26.3' } });
    assert.equal(await stage.reason('Provisioned'), 'InvalidOSPin');
    assert.equal((await stage.status()).phase, 'Pending');
    await stage.patchMachine({ spec: { os: 'Tahoe' } });
    assert.equal((await stage.status()).serverID, 'server-1');
    assert.deepEqual((await stage.events()).slice(0, 2), ['NoAdoptPoolPrefix', 'InvalidOSPin']);
  });

  it('the SSH key of its fleet has to be there, as Scaleway puts keys on a Mac at its first boot', async (t) => {
    const stage = await setStage(t);
    stage.keys.set({ kind: 'unavailable', message: 'IAM says no' }, 'runners');
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    assert.deepEqual(await stage.reason('Bootstrapped'), 'SSHKeyUnavailable');
    assert.equal((await stage.said('Bootstrapped'))?.message, 'IAM says no');
    assert.equal((await stage.status()).serverID, undefined);
    stage.keys.set({ kind: 'ready', privateKey: 'P', publicKey: 'p' }, 'runners');
    await stage.settle();
    assert.equal((await stage.status()).serverID, 'server-1');
  });
});

describe('how a machine claims a Mac', () => {
  it('reserves it on itself, and then on the Mac', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    const reserved = stage.writes.findIndex((write) => write.endsWith('mac-1/status'));
    const taken = stage.writes.findIndex((write) => ofHost.test(write));
    assert.ok(reserved >= 0 && reserved < taken, stage.writes.join('\n'));
  });

  it('holds nothing when the reservation cannot be written', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    let away = true;
    stage.interpose((send) => async (request) => {
      if (away && request.method === 'PATCH' && /mac-1\/status/.test(request.path))
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await stage.start();
    await stage.addMachine();
    await stage.pass(1);
    assert.equal((await stage.host()).spec.consumerRef, undefined);
    assert.match(stage.lines.join(''), /A pass failed and will be tried again/);
    away = false;
    await stage.pass(10);
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
  });

  it('gives its reservation up when somebody else gets the Mac, and takes another one', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    const { group, version, kind } = kindNames.machine;
    const theirs = { apiVersion: `${group}/${version}`, kind, namespace, name: 'mac-2', uid: 'other' };
    let meanwhile = true;
    stage.interpose((send) => async (request) => {
      if (meanwhile && request.method === 'PATCH' && ofHost.test(request.path.split('?')[0] ?? '')) {
        meanwhile = false;
        const body = { spec: { consumerRef: theirs } };
        await stage.client.patch(macHost.resource, { name: 'server-1' }, { type: 'merge', body });
      }
      return send(request);
    });
    await stage.start();
    await stage.addMachine();
    assert.equal(meanwhile, false);
    assert.equal((await stage.host()).spec.consumerRef?.uid, 'other');
    assert.equal((await stage.status()).serverID, undefined, 'it is not the machine’s');
    assert.equal(await stage.reason('Provisioned'), 'NoAvailableHost');
    assert.ok(!(await stage.events()).includes('Adopted'));
    await stage.addHost('server-2');
    assert.equal((await stage.status()).serverID, 'server-2');
    assert.equal((await stage.host('server-2')).spec.consumerRef?.name, 'mac-1');
  });

  it('says what it looks for when there is none, and takes one as soon as it is free', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.addMachine({ type: 'M4-S' });
    await stage.addHost();
    assert.match((await stage.said('Provisioned'))?.message ?? '', /No M4-S/);
    await stage.pass(3);
    assert.deepEqual(
      (await stage.events()).filter((reason) => reason === 'NoAvailableHost'),
      ['NoAvailableHost'],
      'once, not at every look',
    );
    await stage.setHostStatus({ type: 'M4-S' });
    assert.equal((await stage.status()).serverID, 'server-1');
  });

  it('takes the very server that its providerID names, or none', async (t) => {
    const stage = await setStage(t);
    await stage.addHost('server-1');
    await stage.start();
    await stage.addMachine({ providerID: 'scw-applesilicon://fr-par-1/server-2' });
    assert.equal((await stage.status()).serverID, undefined);
    await stage.addHost('server-2');
    assert.equal((await stage.status()).serverID, 'server-2');
    await stage.rename('server-2');
    assert.equal((await stage.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-2');
    assert.equal((await stage.status()).initialization?.provisioned, true);
  });

  it('adopts no server that merely bears its name, also if its spec names that server', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.setHostStatus({ name: 'mac-1', state: 'stranded' });
    await stage.start();
    await stage.addMachine({ providerID: 'scw-applesilicon://fr-par-1/server-1' });
    await stage.pass(2);
    assert.equal((await stage.status()).serverID, undefined);
    assert.equal((await stage.host()).spec.consumerRef, undefined);
    const said = await stage.said('Provisioned');
    assert.equal(said?.reason, 'NoAvailableHost');
    assert.match(said?.message ?? '', /server-1 bears the name of this machine.* neither adopted nor wiped/);
    await stage.deleteMachine();
    assert.equal(await stage.getIfThere(), undefined);
    assert.equal((await stage.host()).spec.release, undefined);
  });

  it('adopts the server that it held when its status was lost, and trusts no other host key there', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    const { consumerRef } = (await stage.host()).spec;
    await stage.restart();
    await stage.patchHost({ consumerRef: null });
    const live = await stage.get();
    await stage.client.patch(
      machineKind.resource,
      { namespace, name: 'mac-1' },
      { type: 'merge', body: { status: Object.fromEntries(Object.keys(live.status ?? {}).map((key) => [key, null])) } },
      { subresource: 'status' },
    );
    const pushes = stage.work.jobs.length;
    await stage.pass(2);
    assert.equal((await stage.status()).serverID, 'server-1');
    assert.deepEqual((await stage.host()).spec.consumerRef, consumerRef);
    assert.equal(stage.work.jobs[pushes]?.pinnedHostKey, 'SHA256:first');
  });

  it('claims nothing from a pool that the manager does not allow, and gives back what it holds all the same', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    await stage.setHostStatus({ name: 'their-pool-1' });
    await stage.start();
    await stage.addMachine({ adoptPoolPrefix: 'their-pool-' });
    await stage.pass(2);
    assert.equal((await stage.status()).serverID, undefined);
    assert.equal(await stage.reason('Provisioned'), 'PoolPrefixNotAllowed');
    assert.ok((await stage.events()).includes('PoolPrefixNotAllowed'));
    // Claimed before the manager was told which pools it may claim from.
    const { metadata } = await stage.get();
    const { kind } = kindNames.machine;
    const apiVersion = `${kindNames.machine.group}/${kindNames.machine.version}`;
    await stage.remember({ serverID: 'server-1', initialization: { provisioned: true } });
    await stage.patchHost({
      consumerRef: { apiVersion, kind, namespace, name: 'mac-1', uid: metadata.uid },
      poolPrefix: 'their-pool-',
    });
    await stage.deleteMachine();
    assert.equal((await stage.host()).spec.release?.poolPrefix, 'their-pool-');
  });

  it('works on after a crash between the two writes', async (t) => {
    const stage = await setStage(t);
    await stage.addHost();
    stage.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && ofHost.test(request.path.split('?')[0] ?? ''))
        throw new KubeError('unreachable', 'the process is about to die');
      return send(request);
    });
    await stage.start();
    await stage.addMachine();
    assert.equal((await stage.status()).serverID, 'server-1');
    stage.interpose((send) => send);
    await stage.restart();
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
    assert.ok(stage.writes.some((write) => ofMachine.test(write)));
  });

  it('needs no Cluster API at all', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living({ fleetName: '' });
    assert.equal((await stage.status()).ready, true);
  });
});

describe('a machine whose Mac is not its own any more', () => {
  it('takes another one while it was not made ready', async (t) => {
    const stage = await setStage(t);
    stage.work.next({ kind: 'unreachable', message: 'no' });
    await stage.start();
    await stage.claimed();
    assert.equal((await stage.status()).bootstrapAttempts, 1);
    await stage.addHost('server-2');
    await stage.sayGone();
    const status = await stage.status();
    assert.equal(status.serverID, 'server-2');
    assert.equal(status.bootstrapAttempts, undefined);
    assert.equal((await stage.host()).spec.consumerRef, undefined, 'nobody holds a server that is gone');
    await stage.rename('server-2');
    assert.equal((await stage.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-2');
  });

  it('takes no other one once it was made ready: its providerID is for ever', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.addHost('server-2');
    await stage.sayGone();
    await stage.pass(10);
    const status = await stage.status();
    assert.equal(status.serverID, 'server-1');
    assert.equal(status.initialization?.provisioned, true);
    assert.equal(status.ready, false);
    assert.equal(await stage.reason('Provisioned'), 'HostGone');
    assert.equal((await stage.host('server-2')).spec.consumerRef, undefined);
    assert.equal((await stage.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-1');
  });

  it('waits for a MacHost that was lost, and takes it back', async (t) => {
    const stage = await setStage(t);
    await stage.start();
    await stage.living();
    await stage.client.delete(macHost.resource, { name: 'server-1' });
    await stage.pass(1);
    const status = await stage.status();
    assert.equal(status.serverID, 'server-1');
    assert.equal(status.ready, true, 'the Mac is none the worse for it');
    await stage.addHost();
    await stage.setHostStatus({ name: 'mac-1', state: 'held' });
    assert.equal((await stage.host()).spec.consumerRef?.name, 'mac-1');
    assert.equal((await stage.status()).ready, true);
  });
});
