import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, machine as machineKind, macHost } from '@tartan/api';
import { events, KubeError, secrets } from '@tartan/kube';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const living = async (harness: Harness): Promise<void> => {
  await harness.start();
  await harness.living();
};

describe('a machine that is deleted', () => {
  it('releases its Mac, waits until the wipe has started, and leaves nothing behind', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    await harness.deleteMachine();
    const { consumerRef, release } = (await harness.host()).spec;
    assert.equal(consumerRef, undefined);
    assert.equal(release?.reason, 'MachineDeleted');
    assert.equal(release.poolPrefix, 'tuist-pool-');
    assert.equal(release.family, 'tahoe');
    assert.equal(release.hostKey, 'SHA256:first');
    await harness.pass(2);
    assert.equal((await harness.status()).phase, 'Deleting');
    assert.equal((await harness.status()).ready, false);
    assert.equal(await harness.reason('Deleting'), 'Releasing');
    assert.ok(await harness.node(), 'its agent may still run');
    assert.ok(await harness.secret());
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal(await harness.node(), undefined);
    assert.equal(await harness.secret(), undefined);
    assert.deepEqual(await harness.tokens(), []);
    const events = await harness.events();
    assert.ok(events.indexOf('Releasing') >= 0 && events.includes('Released'));
  });

  it('is forgotten, also what its last pass remembers after it is gone', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    const machine = await harness.getIfExists();
    assert.ok(machine);
    // Of the first version, which any write has replaced.
    const first = { ...machine, metadata: { ...machine.metadata, resourceVersion: '1' } };
    const isRemembered = (): boolean => harness.memory().versions.isOutdated(first);
    assert.ok(isRemembered());
    await harness.deleteMachine();
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal(isRemembered(), false);
  });

  it('is forgotten without a look at the others that are remembered', async (t) => {
    const lookupsWith = async (remembered: number): Promise<number> => {
      const harness = await createHarness(t);
      await living(harness);
      const machine = await harness.get();
      for (let index = 0; index < remembered; index += 1)
        harness.memory().versions.record({ ...machine, metadata: { ...machine.metadata, uid: `uid-${index}` } });
      await harness.deleteMachine();
      await harness.beginWipe();
      assert.equal(await harness.getIfExists(), undefined);
      return harness.lookups.length;
    };
    assert.equal(await lookupsWith(1000), await lookupsWith(0));
  });

  it('is forgotten, also if another one has its name at once', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    const machine = await harness.get();
    const first = { ...machine, metadata: { ...machine.metadata, resourceVersion: '1' } };
    await harness.meanwhile(async () => {
      await harness.patchMachine({ metadata: { finalizers: null } });
      await harness.deleteMachine();
      await harness.addMachine();
    });
    await harness.settle();
    assert.notEqual((await harness.get()).metadata.uid, machine.metadata.uid);
    assert.equal(harness.memory().versions.isOutdated(first), false);
  });

  it('is removed without a wipe once the wipe is stuck; the release stays', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    await harness.deleteMachine();
    const at = new Date(harness.clock.now()).toISOString();
    await harness.setHostStatus({ wipe: { attempts: 3, requestedAt: at, refusedAt: at } });
    await harness.pass(2);
    assert.ok(await harness.getIfExists(), 'a refusal alone is no reason');
    await harness.setHostStatus({ wipe: { attempts: 3, requestedAt: at, refusedAt: at, stuckAt: at } });
    await harness.pass(1);
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal((await harness.host()).spec.release?.reason, 'MachineDeleted');
    assert.equal(await harness.node(), undefined);
    assert.equal(await harness.secret(), undefined);
    assert.deepEqual(await harness.tokens(), [], 'its agent gets no other certificate');
    assert.ok((await harness.events()).includes('ReleasedNotWiped'));
  });

  it('is removed at once when its Mac is abandoned, before or after the release', async (t) => {
    for (const isReleased of [false, true]) {
      const harness = await createHarness(t);
      await living(harness);
      if (isReleased) await harness.deleteMachine();
      const body = { metadata: { annotations: { [annotations.abandon]: 'it is locked' } } };
      await harness.client.patch(macHost.resource, { name: 'server-1' }, { type: 'merge', body });
      await harness.pass(1);
      if (!isReleased) {
        assert.ok(await harness.getIfExists(), 'one that lives goes on');
        await harness.deleteMachine();
      }
      await harness.pass(1);
      assert.equal(await harness.getIfExists(), undefined);
      const { consumerRef, release } = (await harness.host()).spec;
      assert.equal(release !== undefined, isReleased);
      assert.equal(consumerRef !== undefined, !isReleased);
      assert.equal(await harness.node(), undefined);
      assert.ok((await harness.events()).includes('HostAbandoned'));
    }
  });

  it('ignores the wipe of an earlier release', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addHost();
    await harness.setHostStatus({
      wipe: { requestedAt: '2025-12-01T00:00:00Z', reinstallingAt: '2025-12-01T00:00:10Z' },
    });
    await harness.addMachine();
    await harness.rename();
    await harness.deleteMachine();
    await harness.pass(2);
    assert.ok(await harness.getIfExists());
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
  });

  it('reports ReleaseSkipped when no pool is known, and is removed without its Mac', async (t) => {
    const harness = await createHarness(t, { defaultPoolPrefix: undefined });
    await harness.start();
    await harness.living({ adoptPoolPrefix: 'tuist-pool-' });
    await harness.patchMachine({ spec: { adoptPoolPrefix: '' } });
    await harness.patchHost({ poolPrefix: '' });
    await harness.deleteMachine();
    assert.equal(await harness.getIfExists(), undefined);
    const { consumerRef, release } = (await harness.host()).spec;
    assert.equal(release, undefined);
    assert.equal(consumerRef?.name, 'mac-1', 'the sweep reports it');
    assert.ok((await harness.events()).includes('ReleaseSkipped'));
    assert.equal(await harness.node(), undefined);
  });

  it('needs no Mac', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.addMachine();
    await harness.deleteMachine();
    assert.equal(await harness.getIfExists(), undefined);
  });

  it('ends a reservation that was not taken, so that nobody can take it later', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.body?.includes('consumerRef') === true)
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await harness.start();
    await harness.addMachine();
    const { metadata } = await harness.host();
    assert.equal((await harness.status()).serverVersion, metadata.resourceVersion);
    await harness.deleteMachine();
    await harness.pass(1);
    assert.equal(await harness.getIfExists(), undefined);
    assert.notEqual((await harness.host()).metadata.resourceVersion, metadata.resourceVersion);
  });

  it('deletes no Node but its own', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await harness.claimed();
    await harness.addNode({ providerID: 'scw-applesilicon://fr-par-1/other' });
    await harness.deleteMachine();
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
    assert.ok(await harness.node());
  });

  it('does not touch a Mac that another machine holds', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    const { consumerRef } = (await harness.host()).spec;
    await harness.setHostStatus({ name: 'tuist-pool-x', state: 'stranded' });
    await harness.patchHost({ consumerRef: null });
    await harness.patchHost({ consumerRef: { ...consumerRef, name: 'mac-2', uid: 'other' } });
    await harness.deleteMachine();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal((await harness.host()).spec.consumerRef?.uid, 'other');
    assert.equal((await harness.host()).spec.release, undefined);
  });

  it('is removed when its server is gone, and waits while that is unknown', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    await harness.client.delete(macHost.resource, { name: 'server-1' });
    await harness.deleteMachine();
    assert.ok(await harness.getIfExists(), 'the inventory makes its MacHost again');
    harness.pool.remove('server-1');
    await harness.pass(1);
    assert.equal(await harness.getIfExists(), undefined);
  });

  it('clears the consumerRef of a MacHost whose server is gone', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    await harness.markGone();
    await harness.deleteMachine();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal((await harness.host()).spec.consumerRef, undefined);
  });

  it('continues after a crash at any of its deletions', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    let left = 6;
    harness.interpose((send) => async (request) => {
      const answer = await send(request);
      const isLast = request.method === 'DELETE' || request.body?.includes('"finalizers"') === true;
      // Each of them succeeds, and its response is lost.
      if (isLast && left > 0) {
        left -= 1;
        throw new KubeError('unreachable', 'the answer was lost');
      }
      return answer;
    });
    await harness.deleteMachine();
    await harness.beginWipe();
    await harness.pass(10);
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal(await harness.node(), undefined);
    assert.equal(await harness.secret(), undefined);
    assert.deepEqual(await harness.tokens(), []);
  });

  const elsewhere = { name: 'mac-1', namespace: 'kube-system' };
  const addNamesake = async (harness: Harness, zone: string) => {
    const spec = { fleetName: 'runners', zone };
    const metadata = { ...elsewhere, ...(await clusterMember(harness.client, elsewhere)) };
    await harness.client.create(machineKind.resource, machineKind.make({ metadata, spec }));
    await harness.settle();
  };

  it('keeps the Secret of a namesake in another namespace', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    const victim = await harness.secret();
    await addNamesake(harness, 'fr-par-2');
    await harness.client.delete(machineKind.resource, elsewhere);
    await harness.settle();
    await assert.rejects(harness.client.get(machineKind.resource, elsewhere), { reason: 'notFound' });
    assert.equal((await harness.secret())?.metadata.resourceVersion, victim?.metadata.resourceVersion);
    const { items } = await harness.client.list(events, { namespace: elsewhere.namespace });
    assert.ok(items.some(({ reason }) => reason === 'SecretKept'));
  });

  it('keeps an unmarked Secret for the namesake that holds its server', async (t) => {
    const harness = await createHarness(t);
    await living(harness);
    const { metadata } = (await harness.secret()) ?? {};
    const body = { metadata: { annotations: { [annotations.machineUID]: null } } };
    const where = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    await harness.client.patch(secrets, where, { type: 'merge', body });
    await addNamesake(harness, 'fr-par-2');
    await harness.client.delete(machineKind.resource, elsewhere);
    await harness.settle();
    assert.ok(await harness.secret());
    await harness.deleteMachine();
    await harness.beginWipe();
    assert.equal(await harness.getIfExists(), undefined);
    assert.equal(await harness.secret(), undefined);
  });
});
