import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers, kindNames, machine as machineKind, macHost } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { clusters, createHarness, type Harness, namespace } from './testing/harness.ts';

const ofMachine = /scalewayapplesiliconmachines\/mac-1(\/status)?$/;
const ofHost = /machosts\/server-1$/;

const addCluster = (stage: Harness, more: object = {}) =>
  stage.client.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'macs', namespace },
    ...more,
  });

const provisionedCluster = { status: { initialization: { infrastructureProvisioned: true } } };
const ofTheCluster = { labels: { 'cluster.x-k8s.io/cluster-name': 'macs' } };
const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'mac-1', uid: 'u-1' };

describe('before the claim', () => {
  it('the finalizer is written first', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    assert.deepEqual((await stage.get()).metadata.finalizers, [finalizers.machine]);
    const [first = ''] = stage.writes;
    assert.match(first, /PATCH .*scalewayapplesiliconmachines\/mac-1$/);
  });

  it('without its finalizer nothing is done', async (t) => {
    const stage = await createHarness(t);
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

  it('a pause sets the Paused condition and blocks everything else', async (t) => {
    const stage = await createHarness(t);
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

  it('the machine waits for its owner, its Cluster, and the infrastructure of the Cluster', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine({}, ofTheCluster);
    assert.match((await stage.condition('Provisioned'))?.message ?? '', /no owner yet/);
    await stage.patchMachine({ metadata: { ownerReferences: [owner] } });
    assert.match((await stage.condition('Provisioned'))?.message ?? '', /no Cluster macs/);
    await addCluster(stage, { spec: { paused: true }, ...provisionedCluster });
    await stage.settle();
    assert.equal(await stage.reason('Paused'), 'Paused', 'its Cluster is paused');
    const name = { namespace, name: 'macs' };
    await stage.client.patch(clusters, name, { type: 'merge', body: { spec: { paused: false } } });
    await stage.settle();
    assert.match((await stage.condition('Provisioned'))?.message ?? '', /not provisioned yet/);
    assert.equal((await stage.status()).serverID, undefined);
    await stage.client.patch(clusters, name, { type: 'merge', body: provisionedCluster }, { subresource: 'status' });
    await stage.settle();
    assert.equal((await stage.status()).serverID, 'server-1');
  });

  it('a pool prefix and a macOS family are required', async (t) => {
    const stage = await createHarness(t, { defaultPoolPrefix: undefined });
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

  it('the SSH key of the fleet must exist, as Scaleway installs keys only at first boot', async (t) => {
    const stage = await createHarness(t);
    stage.keys.set({ kind: 'unavailable', message: 'IAM says no' }, 'runners');
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    assert.deepEqual(await stage.reason('Bootstrapped'), 'SSHKeyUnavailable');
    assert.equal((await stage.condition('Bootstrapped'))?.message, 'IAM says no');
    assert.equal((await stage.status()).serverID, undefined);
    stage.keys.set({ kind: 'ready', privateKey: 'P', publicKey: 'p' }, 'runners');
    await stage.settle();
    assert.equal((await stage.status()).serverID, 'server-1');
  });
});

describe('claiming a Mac', () => {
  it('writes the machine status first, then the MacHost', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.start();
    await stage.addMachine();
    const reserved = stage.writes.findIndex((write) => write.endsWith('mac-1/status'));
    const taken = stage.writes.findIndex((write) => ofHost.test(write));
    assert.ok(reserved >= 0 && reserved < taken, stage.writes.join('\n'));
  });

  it('holds nothing when the reservation cannot be written', async (t) => {
    const stage = await createHarness(t);
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

  it('drops the reservation when another machine gets the Mac, and claims another one', async (t) => {
    const stage = await createHarness(t);
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

  it('reports the requirements when no Mac is available, and claims one as soon as it is free', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.addMachine({ type: 'M4-S' });
    await stage.addHost();
    assert.match((await stage.condition('Provisioned'))?.message ?? '', /No M4-S/);
    await stage.pass(3);
    assert.deepEqual(
      (await stage.events()).filter((reason) => reason === 'NoAvailableHost'),
      ['NoAvailableHost'],
      'once, not at every look',
    );
    await stage.setHostStatus({ type: 'M4-S' });
    assert.equal((await stage.status()).serverID, 'server-1');
  });

  it('claims only the server that the providerID names', async (t) => {
    const stage = await createHarness(t);
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

  it('does not adopt a server by name alone, even if the spec names that server', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.setHostStatus({ name: 'mac-1', state: 'stranded' });
    await stage.start();
    await stage.addMachine({ providerID: 'scw-applesilicon://fr-par-1/server-1' });
    await stage.pass(2);
    assert.equal((await stage.status()).serverID, undefined);
    assert.equal((await stage.host()).spec.consumerRef, undefined);
    const said = await stage.condition('Provisioned');
    assert.equal(said?.reason, 'NoAvailableHost');
    assert.match(said?.message ?? '', /server-1 has the name of this machine.* neither adopted nor wiped/);
    await stage.deleteMachine();
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal((await stage.host()).spec.release, undefined);
  });

  it('adopts its own server again when the status was lost, and keeps the pinned host key', async (t) => {
    const stage = await createHarness(t);
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

  it('claims nothing from a pool that is not allowed, but still releases to it', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    await stage.setHostStatus({ name: 'their-pool-1' });
    await stage.start();
    await stage.addMachine({ adoptPoolPrefix: 'their-pool-' });
    await stage.pass(2);
    assert.equal((await stage.status()).serverID, undefined);
    assert.equal(await stage.reason('Provisioned'), 'PoolPrefixNotAllowed');
    assert.ok((await stage.events()).includes('PoolPrefixNotAllowed'));
    // Claimed before the manager had a list of allowed pools.
    const { metadata } = await stage.get();
    const { kind } = kindNames.machine;
    const apiVersion = `${kindNames.machine.group}/${kindNames.machine.version}`;
    await stage.setStatus({ serverID: 'server-1', initialization: { provisioned: true } });
    await stage.patchHost({
      consumerRef: { apiVersion, kind, namespace, name: 'mac-1', uid: metadata.uid },
      poolPrefix: 'their-pool-',
    });
    await stage.deleteMachine();
    assert.equal((await stage.host()).spec.release?.poolPrefix, 'their-pool-');
  });

  it('continues after a crash between the two writes', async (t) => {
    const stage = await createHarness(t);
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

  it('works without Cluster API', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living({ fleetName: '' });
    assert.equal((await stage.status()).ready, true);
  });
});

describe('a machine that lost its Mac', () => {
  it('claims another one while not provisioned', async (t) => {
    const stage = await createHarness(t);
    stage.work.next({ kind: 'unreachable', message: 'no' });
    await stage.start();
    await stage.claimed();
    assert.equal((await stage.status()).lastAttempt?.count, 1);
    await stage.addHost('server-2');
    await stage.markGone();
    const status = await stage.status();
    assert.equal(status.serverID, 'server-2');
    assert.equal(status.lastAttempt, undefined);
    assert.equal((await stage.host()).spec.consumerRef, undefined, 'nobody holds a server that is gone');
    await stage.rename('server-2');
    assert.equal((await stage.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-2');
  });

  it('claims no other one once provisioned: the providerID never changes', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.living();
    await stage.addHost('server-2');
    await stage.markGone();
    await stage.pass(10);
    const status = await stage.status();
    assert.equal(status.serverID, 'server-1');
    assert.equal(status.initialization?.provisioned, true);
    assert.equal(status.ready, false);
    assert.equal(await stage.reason('Provisioned'), 'HostGone');
    assert.equal((await stage.host('server-2')).spec.consumerRef, undefined);
    assert.equal((await stage.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-1');
  });

  it('waits for a deleted MacHost to be recreated, and takes it again', async (t) => {
    const stage = await createHarness(t);
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
