import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, machine as machineKind, macHost } from '@tartan/api';
import { events, KubeError, secrets } from '@tartan/kube';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const living = async (stage: Harness): Promise<void> => {
  await stage.start();
  await stage.living();
};

describe('a machine that is deleted', () => {
  it('releases its Mac, waits until the wipe has started, and leaves nothing behind', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    await stage.deleteMachine();
    const { consumerRef, release } = (await stage.host()).spec;
    assert.equal(consumerRef, undefined);
    assert.equal(release?.reason, 'MachineDeleted');
    assert.equal(release.poolPrefix, 'tuist-pool-');
    assert.equal(release.family, 'tahoe');
    assert.equal(release.hostKey, 'SHA256:first');
    await stage.pass(2);
    assert.equal((await stage.status()).phase, 'Deleting');
    assert.equal((await stage.status()).ready, false);
    assert.equal(await stage.reason('Deleting'), 'Releasing');
    assert.ok(await stage.node(), 'its agent may still run');
    assert.ok(await stage.secret());
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal(await stage.node(), undefined);
    assert.equal(await stage.secret(), undefined);
    assert.deepEqual(await stage.tokens(), []);
    const events = await stage.events();
    assert.ok(events.indexOf('Releasing') >= 0 && events.includes('Released'));
  });

  it('is removed without a wipe once the wipe is stuck; the release stays', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    await stage.deleteMachine();
    const at = new Date(stage.clock.now()).toISOString();
    await stage.setHostStatus({ wipe: { attempts: 3, requestedAt: at, refusedAt: at } });
    await stage.pass(2);
    assert.ok(await stage.getIfExists(), 'a refusal alone is no reason');
    await stage.setHostStatus({ wipe: { attempts: 3, requestedAt: at, refusedAt: at, stuckAt: at } });
    await stage.pass(1);
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal((await stage.host()).spec.release?.reason, 'MachineDeleted');
    assert.equal(await stage.node(), undefined);
    assert.equal(await stage.secret(), undefined);
    assert.deepEqual(await stage.tokens(), [], 'its agent gets no other certificate');
    assert.ok((await stage.events()).includes('ReleasedNotWiped'));
  });

  it('is removed at once when its Mac is abandoned, before or after the release', async (t) => {
    for (const isReleased of [false, true]) {
      const stage = await createHarness(t);
      await living(stage);
      if (isReleased) await stage.deleteMachine();
      const body = { metadata: { annotations: { [annotations.abandon]: 'it is locked' } } };
      await stage.client.patch(macHost.resource, { name: 'server-1' }, { type: 'merge', body });
      await stage.pass(1);
      if (!isReleased) {
        assert.ok(await stage.getIfExists(), 'one that lives goes on');
        await stage.deleteMachine();
      }
      await stage.pass(1);
      assert.equal(await stage.getIfExists(), undefined);
      const { consumerRef, release } = (await stage.host()).spec;
      assert.equal(release !== undefined, isReleased);
      assert.equal(consumerRef !== undefined, !isReleased);
      assert.equal(await stage.node(), undefined);
      assert.ok((await stage.events()).includes('HostAbandoned'));
    }
  });

  it('ignores the wipe of an earlier release', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.addHost();
    await stage.setHostStatus({
      wipe: { requestedAt: '2025-12-01T00:00:00Z', reinstallingAt: '2025-12-01T00:00:10Z' },
    });
    await stage.addMachine();
    await stage.rename();
    await stage.deleteMachine();
    await stage.pass(2);
    assert.ok(await stage.getIfExists());
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
  });

  it('reports ReleaseSkipped when no pool is known, and is removed without its Mac', async (t) => {
    const stage = await createHarness(t, { defaultPoolPrefix: undefined });
    await stage.start();
    await stage.living({ adoptPoolPrefix: 'tuist-pool-' });
    await stage.patchMachine({ spec: { adoptPoolPrefix: '' } });
    await stage.patchHost({ poolPrefix: '' });
    await stage.deleteMachine();
    assert.equal(await stage.getIfExists(), undefined);
    const { consumerRef, release } = (await stage.host()).spec;
    assert.equal(release, undefined);
    assert.equal(consumerRef?.name, 'mac-1', 'the sweep reports it');
    assert.ok((await stage.events()).includes('ReleaseSkipped'));
    assert.equal(await stage.node(), undefined);
  });

  it('needs no Mac', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.addMachine();
    await stage.deleteMachine();
    assert.equal(await stage.getIfExists(), undefined);
  });

  it('ends a reservation that was not taken, so that nobody can take it later', async (t) => {
    const stage = await createHarness(t);
    await stage.addHost();
    stage.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && request.body?.includes('consumerRef') === true)
        throw new KubeError('unreachable', 'the server is away');
      return send(request);
    });
    await stage.start();
    await stage.addMachine();
    const { metadata } = await stage.host();
    assert.equal((await stage.status()).serverVersion, metadata.resourceVersion);
    await stage.deleteMachine();
    await stage.pass(1);
    assert.equal(await stage.getIfExists(), undefined);
    assert.notEqual((await stage.host()).metadata.resourceVersion, metadata.resourceVersion);
  });

  it('deletes no Node but its own', async (t) => {
    const stage = await createHarness(t);
    await stage.start();
    await stage.claimed();
    await stage.addNode({ providerID: 'scw-applesilicon://fr-par-1/other' });
    await stage.deleteMachine();
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
    assert.ok(await stage.node());
  });

  it('does not touch a Mac that another machine holds', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    const { consumerRef } = (await stage.host()).spec;
    await stage.setHostStatus({ name: 'tuist-pool-x', state: 'stranded' });
    await stage.patchHost({ consumerRef: null });
    await stage.patchHost({ consumerRef: { ...consumerRef, name: 'mac-2', uid: 'other' } });
    await stage.deleteMachine();
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal((await stage.host()).spec.consumerRef?.uid, 'other');
    assert.equal((await stage.host()).spec.release, undefined);
  });

  it('is removed when its server is gone, and waits while that is unknown', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    await stage.client.delete(macHost.resource, { name: 'server-1' });
    await stage.deleteMachine();
    assert.ok(await stage.getIfExists(), 'the inventory makes its MacHost again');
    stage.pool.remove('server-1');
    await stage.pass(1);
    assert.equal(await stage.getIfExists(), undefined);
  });

  it('clears the consumerRef of a MacHost whose server is gone', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    await stage.markGone();
    await stage.deleteMachine();
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal((await stage.host()).spec.consumerRef, undefined);
  });

  it('continues after a crash at any of its deletions', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    let left = 6;
    stage.interpose((send) => async (request) => {
      const answer = await send(request);
      const isLast = request.method === 'DELETE' || request.body?.includes('"finalizers"') === true;
      // Each of them succeeds, and its response is lost.
      if (isLast && left > 0) {
        left -= 1;
        throw new KubeError('unreachable', 'the answer was lost');
      }
      return answer;
    });
    await stage.deleteMachine();
    await stage.beginWipe();
    await stage.pass(10);
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal(await stage.node(), undefined);
    assert.equal(await stage.secret(), undefined);
    assert.deepEqual(await stage.tokens(), []);
  });

  const elsewhere = { name: 'mac-1', namespace: 'kube-system' };
  const addNamesake = async (stage: Harness, zone: string) => {
    const spec = { fleetName: 'runners', zone };
    const metadata = { ...elsewhere, ...(await clusterMember(stage.client, elsewhere)) };
    await stage.client.create(machineKind.resource, machineKind.make({ metadata, spec }));
    await stage.settle();
  };

  it('keeps the Secret of a namesake in another namespace', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    const victim = await stage.secret();
    await addNamesake(stage, 'fr-par-2');
    await stage.client.delete(machineKind.resource, elsewhere);
    await stage.settle();
    await assert.rejects(stage.client.get(machineKind.resource, elsewhere), { reason: 'notFound' });
    assert.equal((await stage.secret())?.metadata.resourceVersion, victim?.metadata.resourceVersion);
    const { items } = await stage.client.list(events, { namespace: elsewhere.namespace });
    assert.ok(items.some(({ reason }) => reason === 'SecretKept'));
  });

  it('keeps an unmarked Secret for the namesake that holds its server', async (t) => {
    const stage = await createHarness(t);
    await living(stage);
    const { metadata } = (await stage.secret()) ?? {};
    const body = { metadata: { annotations: { [annotations.machineUID]: null } } };
    const where = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    await stage.client.patch(secrets, where, { type: 'merge', body });
    await addNamesake(stage, 'fr-par-2');
    await stage.client.delete(machineKind.resource, elsewhere);
    await stage.settle();
    assert.ok(await stage.secret());
    await stage.deleteMachine();
    await stage.beginWipe();
    assert.equal(await stage.getIfExists(), undefined);
    assert.equal(await stage.secret(), undefined);
  });
});
