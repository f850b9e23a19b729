import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers, kindNames, machine as machineKind, macHost } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { clusters, createHarness, type Harness, namespace } from './testing/harness.ts';

const ofMachine = /scalewayapplesiliconmachines\/mac-1(\/status)?$/;
const ofHost = /machosts\/server-1$/;

const addCluster = (harness: Harness, more: object = {}) =>
  harness.client.create(clusters, {
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
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    await harness.addMachine();
    assert.deepEqual((await harness.get()).metadata.finalizers, [finalizers.machine]);
    const [first = ''] = harness.writes;
    assert.match(first, /PATCH .*scalewayapplesiliconmachines\/mac-1$/);
  });

  it('without its finalizer nothing is done', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.body?.includes('finalizers') === true)
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await harness.start();
    await harness.addMachine();
    await harness.pass(2);
    assert.ok(harness.writes.length > 0);
    assert.ok(harness.writes.every((write) => /PATCH .*\/scalewayapplesiliconmachines\/mac-1$/.test(write)));
    assert.equal((await harness.host()).spec.consumerRef, undefined);
  });

  it('a pause sets the Paused condition and blocks everything else', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    await harness.addMachine({}, { annotations: { 'cluster.x-k8s.io/paused': '' } });
    await harness.pass(2);
    assert.equal(await harness.reason('Paused'), 'Paused');
    assert.equal((await harness.status()).serverID, undefined);
    await harness.patchMachine({ metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    assert.equal(await harness.reason('Paused'), 'NotPaused');
    assert.equal((await harness.status()).serverID, 'server-1');
  });

  it('the machine waits for its owner, its Cluster, and the infrastructure of the Cluster', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    await harness.addMachine({}, ofTheCluster);
    assert.match((await harness.condition('Provisioned'))?.message ?? '', /no owner yet/);
    await harness.patchMachine({ metadata: { ownerReferences: [owner] } });
    assert.match((await harness.condition('Provisioned'))?.message ?? '', /no Cluster macs/);
    await addCluster(harness, { spec: { paused: true }, ...provisionedCluster });
    await harness.settle();
    assert.equal(await harness.reason('Paused'), 'Paused', 'its Cluster is paused');
    const name = { namespace, name: 'macs' };
    await harness.client.patch(clusters, name, { type: 'merge', body: { spec: { paused: false } } });
    await harness.settle();
    assert.match((await harness.condition('Provisioned'))?.message ?? '', /not provisioned yet/);
    assert.equal((await harness.status()).serverID, undefined);
    await harness.client.patch(clusters, name, { type: 'merge', body: provisionedCluster }, { subresource: 'status' });
    await harness.settle();
    assert.equal((await harness.status()).serverID, 'server-1');
  });

  it('a pool prefix and a macOS family are required', async (t) => {
    const harness = await createHarness(t, { defaultPoolPrefix: undefined });
    await harness.addHost();
    await harness.start();
    await harness.addMachine();
    assert.equal(await harness.reason('Provisioned'), 'NoAdoptPoolPrefix');
    await harness.patchMachine({ spec: { adoptPoolPrefix: 'tuist-pool-', os: 'macos-tahoe-26.3' } });
    assert.equal(await harness.reason('Provisioned'), 'InvalidOSPin');
    assert.equal((await harness.status()).phase, 'Pending');
    await harness.patchMachine({ spec: { os: 'Tahoe' } });
    assert.equal((await harness.status()).serverID, 'server-1');
    assert.deepEqual((await harness.events()).slice(0, 2), ['NoAdoptPoolPrefix', 'InvalidOSPin']);
  });

  it('the SSH key of the fleet must exist, as Scaleway installs keys only at first boot', async (t) => {
    const harness = await createHarness(t);
    harness.keys.set({ kind: 'unavailable', message: 'IAM says no' }, 'runners');
    await harness.addHost();
    await harness.start();
    await harness.addMachine();
    assert.deepEqual(await harness.reason('Bootstrapped'), 'SSHKeyUnavailable');
    assert.equal((await harness.condition('Bootstrapped'))?.message, 'IAM says no');
    assert.equal((await harness.status()).serverID, undefined);
    harness.keys.set({ kind: 'ready', privateKey: 'P', publicKey: 'p' }, 'runners');
    await harness.settle();
    assert.equal((await harness.status()).serverID, 'server-1');
  });
});

describe('claiming a Mac', () => {
  it('writes the machine status first, then the MacHost', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    await harness.addMachine();
    const reserved = harness.writes.findIndex((write) => write.endsWith('mac-1/status'));
    const taken = harness.writes.findIndex((write) => ofHost.test(write));
    assert.ok(reserved >= 0 && reserved < taken, harness.writes.join('\n'));
  });

  it('holds nothing when the reservation cannot be written', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    let away = true;
    harness.interpose((send) => async (request) => {
      if (away && request.method === 'PATCH' && /mac-1\/status/.test(request.path))
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await harness.start();
    await harness.addMachine();
    await harness.pass(1);
    assert.equal((await harness.host()).spec.consumerRef, undefined);
    assert.match(harness.lines.join(''), /A pass failed and will be tried again/);
    away = false;
    await harness.pass(10);
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
  });

  it('drops the reservation when another machine gets the Mac, and claims another one', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    const { group, version, kind } = kindNames.machine;
    const theirs = { apiVersion: `${group}/${version}`, kind, namespace, name: 'mac-2', uid: 'other' };
    let meanwhile = true;
    harness.interpose((send) => async (request) => {
      if (meanwhile && request.method === 'PATCH' && ofHost.test(request.path.split('?')[0] ?? '')) {
        meanwhile = false;
        const body = { spec: { consumerRef: theirs } };
        await harness.client.patch(macHost.resource, { name: 'server-1' }, { type: 'merge', body });
      }
      return send(request);
    });
    await harness.start();
    await harness.addMachine();
    assert.equal(meanwhile, false);
    assert.equal((await harness.host()).spec.consumerRef?.uid, 'other');
    assert.equal((await harness.status()).serverID, undefined, 'it is not the machine’s');
    assert.equal(await harness.reason('Provisioned'), 'NoAvailableHost');
    assert.ok(!(await harness.events()).includes('Adopted'));
    await harness.addHost('server-2');
    assert.equal((await harness.status()).serverID, 'server-2');
    assert.equal((await harness.host('server-2')).spec.consumerRef?.name, 'mac-1');
  });

  it('reports the requirements when no Mac is available, and claims one as soon as it is free', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addMachine({ type: 'M4-S' });
    await harness.addHost();
    assert.match((await harness.condition('Provisioned'))?.message ?? '', /No M4-S/);
    await harness.pass(3);
    assert.deepEqual(
      (await harness.events()).filter((reason) => reason === 'NoAvailableHost'),
      ['NoAvailableHost'],
      'once, not at every look',
    );
    await harness.setHostStatus({ type: 'M4-S' });
    assert.equal((await harness.status()).serverID, 'server-1');
  });

  it('claims only the server that the providerID names', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost('server-1');
    await harness.start();
    await harness.addMachine({ providerID: 'scw-applesilicon://fr-par-1/server-2' });
    assert.equal((await harness.status()).serverID, undefined);
    await harness.addHost('server-2');
    assert.equal((await harness.status()).serverID, 'server-2');
    await harness.rename('server-2');
    assert.equal((await harness.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-2');
    assert.equal((await harness.status()).initialization?.provisioned, true);
  });

  it('does not adopt a server by name alone, even if the spec names that server', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.setHostStatus({ name: 'mac-1', state: 'stranded' });
    await harness.start();
    await harness.addMachine({ providerID: 'scw-applesilicon://fr-par-1/server-1' });
    await harness.pass(2);
    assert.equal((await harness.status()).serverID, undefined);
    assert.equal((await harness.host()).spec.consumerRef, undefined);
    const said = await harness.condition('Provisioned');
    assert.equal(said?.reason, 'NoAvailableHost');
    assert.match(said?.message ?? '', /server-1 has the name of this machine.* neither adopted nor wiped/);
    await harness.deleteMachine();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal((await harness.host()).spec.release, undefined);
  });

  it('adopts its own server again when the status was lost, and keeps the pinned host key', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    const { consumerRef } = (await harness.host()).spec;
    await harness.restart();
    await harness.patchHost({ consumerRef: null });
    const live = await harness.get();
    await harness.client.patch(
      machineKind.resource,
      { namespace, name: 'mac-1' },
      { type: 'merge', body: { status: Object.fromEntries(Object.keys(live.status ?? {}).map((key) => [key, null])) } },
      { subresource: 'status' },
    );
    const pushes = harness.work.jobs.length;
    await harness.pass(2);
    assert.equal((await harness.status()).serverID, 'server-1');
    assert.deepEqual((await harness.host()).spec.consumerRef, consumerRef);
    assert.equal(harness.work.jobs[pushes]?.pinnedHostKey, 'SHA256:first');
  });

  it('claims nothing from a pool that is not allowed, but still releases to it', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.setHostStatus({ name: 'their-pool-1' });
    await harness.start();
    await harness.addMachine({ adoptPoolPrefix: 'their-pool-' });
    await harness.pass(2);
    assert.equal((await harness.status()).serverID, undefined);
    assert.equal(await harness.reason('Provisioned'), 'PoolPrefixNotAllowed');
    assert.ok((await harness.events()).includes('PoolPrefixNotAllowed'));
    // Claimed before the manager had a list of allowed pools.
    const { metadata } = await harness.get();
    const { kind } = kindNames.machine;
    const apiVersion = `${kindNames.machine.group}/${kindNames.machine.version}`;
    await harness.setStatus({ serverID: 'server-1', initialization: { provisioned: true } });
    await harness.patchHost({
      consumerRef: { apiVersion, kind, namespace, name: 'mac-1', uid: metadata.uid },
      poolPrefix: 'their-pool-',
    });
    await harness.deleteMachine();
    assert.equal((await harness.host()).spec.release?.poolPrefix, 'their-pool-');
  });

  it('continues after a crash between the two writes', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && ofHost.test(request.path.split('?')[0] ?? ''))
        throw new KubeError('unreachable', 'the process is about to die');
      return send(request);
    });
    await harness.start();
    await harness.addMachine();
    assert.equal((await harness.status()).serverID, 'server-1');
    harness.interpose((send) => send);
    await harness.restart();
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    assert.ok(harness.writes.some((write) => ofMachine.test(write)));
  });

  it('works without Cluster API', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living({ fleetName: '' });
    assert.equal((await harness.status()).ready, true);
  });
});

describe('a machine that lost its Mac', () => {
  it('claims another one while not provisioned', async (t) => {
    const harness = await createHarness(t);
    harness.work.next({ kind: 'unreachable', message: 'no' });
    await harness.start();
    await harness.claimed();
    assert.equal((await harness.status()).lastAttempt?.count, 1);
    await harness.addHost('server-2');
    await harness.markGone();
    const status = await harness.status();
    assert.equal(status.serverID, 'server-2');
    assert.equal(status.lastAttempt, undefined);
    assert.equal((await harness.host()).spec.consumerRef, undefined, 'nobody holds a server that is gone');
    await harness.rename('server-2');
    assert.equal((await harness.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-2');
  });

  it('claims no other one once provisioned: the providerID never changes', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.addHost('server-2');
    await harness.markGone();
    await harness.pass(10);
    const status = await harness.status();
    assert.equal(status.serverID, 'server-1');
    assert.equal(status.initialization?.provisioned, true);
    assert.equal(status.ready, false);
    assert.equal(await harness.reason('Provisioned'), 'HostGone');
    assert.equal((await harness.host('server-2')).spec.consumerRef, undefined);
    assert.equal((await harness.get()).spec.providerID, 'scw-applesilicon://fr-par-1/server-1');
  });

  it('waits for a deleted MacHost to be recreated, and takes it again', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.living();
    await harness.client.delete(macHost.resource, { name: 'server-1' });
    await harness.pass(1);
    const status = await harness.status();
    assert.equal(status.serverID, 'server-1');
    assert.equal(status.ready, true, 'the Mac is none the worse for it');
    await harness.addHost();
    await harness.setHostStatus({ name: 'mac-1', state: 'held' });
    assert.equal((await harness.host()).spec.consumerRef?.name, 'mac-1');
    assert.equal((await harness.status()).ready, true);
  });
});
