import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, kindNames, labels, machine, macHost } from '@tartan/api';
import { coreClusters, createHarness, namespace } from './testing/harness.ts';

const minute = 60_000;

/** A Mac that a machine of the Cluster `macs` holds. */
const setUp = async (t: TestContext, more: Parameters<Awaited<ReturnType<typeof createHarness>>['start']>[0] = {}) => {
  const harness = await createHarness(t);
  const { client } = harness;
  for (const [name, kind] of [
    ['macs', kindNames.cluster.kind],
    ['other', 'OtherCluster'],
  ] as const) {
    const infrastructureRef = { apiGroup: kindNames.cluster.group, kind, name };
    await client.create(coreClusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name, namespace },
      spec: { infrastructureRef },
    });
  }
  const server = await harness.order('tuist-pool-1');
  const { id } = server;
  await harness.start(more);
  const mac = await harness.machine('mac-1', id);
  const patchMachine = (metadata: object) =>
    client.patch(machine.resource, { namespace, name: 'mac-1' }, { type: 'merge', body: { metadata } });
  await patchMachine({ labels: { [labels.clusterName]: 'macs' } });
  const by = { namespace, name: 'mac-1', uid: mac.metadata.uid, cluster: 'macs' };
  return {
    ...harness,
    server,
    id,
    by,
    take: () => harness.take(id, mac),
    patchMachine,
    setPaused: (name: string, paused: boolean) =>
      client.patch(coreClusters, { namespace, name }, { type: 'merge', body: { spec: { paused } } }),
    annotateHost: (paused: '' | null) =>
      client.patch(
        macHost.resource,
        { name: id },
        { type: 'merge', body: { metadata: { annotations: { [annotations.paused]: paused } } } },
      ),
    /** What was changed at Scaleway since the last time. */
    changes: () => harness.calls().filter((call) => !call.startsWith('GET')),
  };
};
type Harness = Awaited<ReturnType<typeof setUp>>;

const pauses: readonly [string, (harness: Harness) => Promise<unknown>, (harness: Harness) => Promise<unknown>][] = [
  ['the MacHost', (harness) => harness.annotateHost(''), (harness) => harness.annotateHost(null)],
  [
    'the machine',
    (harness) => harness.patchMachine({ annotations: { [annotations.paused]: '' } }),
    (harness) => harness.patchMachine({ annotations: { [annotations.paused]: null } }),
  ],
  ['the Cluster', (harness) => harness.setPaused('macs', true), (harness) => harness.setPaused('macs', false)],
];

describe('a Mac paused', () => {
  for (const [what, pause, resume] of pauses) {
    it(`by ${what} is not renamed for its holder until the pause ends`, async (t) => {
      const harness = await setUp(t);
      await pause(harness);
      await harness.settle();
      harness.changes();
      await harness.take();
      await harness.pass(20 * minute);
      assert.deepEqual(harness.changes(), []);
      assert.equal(await harness.reason(harness.id, 'Paused'), 'Paused');
      await resume(harness);
      await harness.pass(minute);
      assert.equal(harness.server.name, 'mac-1');
      assert.equal(await harness.reason(harness.id, 'Paused'), 'NotPaused');
    });

    it(`by ${what} is not wiped after its release until the pause ends`, async (t) => {
      const harness = await setUp(t);
      await harness.take();
      await harness.pass(minute);
      await pause(harness);
      await harness.settle();
      harness.changes();
      await harness.release(harness.id, { machine: harness.by });
      await harness.pass(20 * minute);
      assert.deepEqual(harness.changes(), []);
      assert.equal(harness.server.status, 'ready');
      await resume(harness);
      await harness.pass(20 * minute);
      assert.equal((await harness.host(harness.id)).status?.state, 'pool');
    });

    it(`by ${what} is not restarted`, async (t) => {
      const harness = await setUp(t);
      await harness.take();
      await harness.pass(minute);
      await pause(harness);
      await harness.settle();
      harness.changes();
      await harness.patchSpec(harness.id, { reboot: { requestedAt: new Date(harness.clock.now()).toISOString() } });
      await harness.pass(20 * minute);
      assert.deepEqual(harness.changes(), []);
    });

    it(`by ${what} right before the call to Scaleway is not wiped, and no attempt is counted`, async (t) => {
      const harness = await setUp(t);
      await harness.take();
      await harness.pass(minute);
      let paused = false;
      harness.interpose((send) => async (request) => {
        // The attempt is recorded right before the call.
        if (!paused && request.method === 'PATCH' && request.body?.includes('"attempts"') === true) {
          const answer = await send(request);
          paused = true;
          await pause(harness);
          return answer;
        }
        return send(request);
      });
      await harness.release(harness.id, { machine: harness.by });
      await harness.pass(20 * minute);
      assert.ok(paused);
      assert.equal(harness.server.status, 'ready');
      assert.equal(harness.scaleway.requests.filter((request) => request.endsWith('/reinstall')).length, 0);
      if (what !== 'the MacHost') assert.equal((await harness.host(harness.id)).status?.wipe, undefined);
    });
  }

  it('by a Cluster that the cache does not have yet is left alone, without repeated writes', async (t) => {
    const harness = await setUp(t, { clusters: { get: () => undefined, list: () => [], subscribe: () => () => {} } });
    await harness.take();
    await harness.pass(minute);
    await harness.setPaused('macs', true);
    harness.changes();
    await harness.release(harness.id, { machine: harness.by });
    await harness.settle();
    const { resourceVersion } = (await harness.host(harness.id)).metadata;
    await harness.pass(20 * minute);
    assert.deepEqual(harness.changes(), []);
    assert.equal((await harness.host(harness.id)).metadata.resourceVersion, resourceVersion);
  });

  it('by the Cluster of a deleted machine is not wiped', async (t) => {
    const harness = await setUp(t);
    await harness.take();
    await harness.pass(minute);
    await harness.setPaused('macs', true);
    await harness.release(harness.id, { machine: harness.by });
    await harness.deleteMachine('mac-1');
    harness.changes();
    await harness.pass(20 * minute);
    assert.deepEqual(harness.changes(), []);
  });

  it('by another Cluster, or by another machine of the same name, is wiped', async (t) => {
    const harness = await setUp(t);
    await harness.take();
    await harness.pass(minute);
    await harness.setPaused('other', true);
    await harness.patchMachine({ annotations: { [annotations.paused]: '' } });
    await harness.release(harness.id, { machine: { ...harness.by, uid: 'that of an earlier one' } });
    await harness.pass(20 * minute);
    assert.equal((await harness.host(harness.id)).status?.state, 'pool');
  });

  it('with an unknown Cluster is not wiped while any Cluster with Macs is paused', async (t) => {
    const harness = await setUp(t);
    await harness.setPaused('macs', true);
    await harness.release(harness.id);
    harness.changes();
    await harness.pass(20 * minute);
    assert.deepEqual(harness.changes(), []);
    await harness.setPaused('macs', false);
    await harness.setPaused('other', true);
    await harness.pass(20 * minute);
    assert.equal((await harness.host(harness.id)).status?.state, 'pool');
  });

  it('during a wipe is observed until Scaleway has finished, but does not complete its release', async (t) => {
    const harness = await setUp(t);
    await harness.take();
    await harness.pass(minute);
    await harness.release(harness.id, { machine: harness.by });
    await harness.settle();
    assert.equal(harness.server.status, 'reinstalling');
    await harness.setPaused('macs', true);
    harness.changes();
    await harness.pass(30 * minute);
    assert.deepEqual(harness.changes(), []);
    assert.ok((await harness.host(harness.id)).status?.wipe?.readyAt);
    await harness.setPaused('macs', false);
    await harness.pass(minute);
    assert.equal((await harness.host(harness.id)).status?.state, 'pool');
  });
});
