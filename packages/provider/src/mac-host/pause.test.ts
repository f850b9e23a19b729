import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { annotations, kindNames, labels, machine, macHost } from '@tartan/api';
import { coreClusters, createHarness, namespace } from './testing/harness.ts';

const minute = 60_000;

/** A Mac that a machine of the Cluster `macs` holds. */
const setUp = async (t: TestContext, more: Parameters<Awaited<ReturnType<typeof createHarness>>['start']>[0] = {}) => {
  const stage = await createHarness(t);
  const { client } = stage;
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
  const server = await stage.order('tuist-pool-1');
  const { id } = server;
  await stage.start(more);
  const mac = await stage.machine('mac-1', id);
  const patchMachine = (metadata: object) =>
    client.patch(machine.resource, { namespace, name: 'mac-1' }, { type: 'merge', body: { metadata } });
  await patchMachine({ labels: { [labels.clusterName]: 'macs' } });
  const by = { namespace, name: 'mac-1', uid: mac.metadata.uid, cluster: 'macs' };
  return {
    ...stage,
    server,
    id,
    by,
    take: () => stage.take(id, mac),
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
    changes: () => stage.calls().filter((call) => !call.startsWith('GET')),
  };
};
type Stage = Awaited<ReturnType<typeof setUp>>;

const pauses: readonly [string, (stage: Stage) => Promise<unknown>, (stage: Stage) => Promise<unknown>][] = [
  ['the MacHost', (stage) => stage.annotateHost(''), (stage) => stage.annotateHost(null)],
  [
    'the machine',
    (stage) => stage.patchMachine({ annotations: { [annotations.paused]: '' } }),
    (stage) => stage.patchMachine({ annotations: { [annotations.paused]: null } }),
  ],
  ['the Cluster', (stage) => stage.setPaused('macs', true), (stage) => stage.setPaused('macs', false)],
];

describe('a Mac that is paused', () => {
  for (const [what, pause, resume] of pauses) {
    it(`by ${what} is not renamed for its holder until that is over`, async (t) => {
      const stage = await setUp(t);
      await pause(stage);
      await stage.settle();
      stage.changes();
      await stage.take();
      await stage.pass(20 * minute);
      assert.deepEqual(stage.changes(), []);
      assert.equal(await stage.reason(stage.id, 'Paused'), 'Paused');
      await resume(stage);
      await stage.pass(minute);
      assert.equal(stage.server.name, 'mac-1');
      assert.equal(await stage.reason(stage.id, 'Paused'), 'NotPaused');
    });

    it(`by ${what} is not wiped though it was released, until that is over`, async (t) => {
      const stage = await setUp(t);
      await stage.take();
      await stage.pass(minute);
      await pause(stage);
      await stage.settle();
      stage.changes();
      await stage.release(stage.id, { machine: stage.by });
      await stage.pass(20 * minute);
      assert.deepEqual(stage.changes(), []);
      assert.equal(stage.server.status, 'ready');
      await resume(stage);
      await stage.pass(20 * minute);
      assert.equal((await stage.host(stage.id)).status?.state, 'pool');
    });

    it(`by ${what} is not restarted`, async (t) => {
      const stage = await setUp(t);
      await stage.take();
      await stage.pass(minute);
      await pause(stage);
      await stage.settle();
      stage.changes();
      await stage.patchSpec(stage.id, { reboot: { requestedAt: new Date(stage.clock.now()).toISOString() } });
      await stage.pass(20 * minute);
      assert.deepEqual(stage.changes(), []);
    });

    it(`by ${what} right before Scaleway is called is not wiped, and no attempt is counted`, async (t) => {
      const stage = await setUp(t);
      await stage.take();
      await stage.pass(minute);
      let paused = false;
      stage.interpose((send) => async (request) => {
        // The attempt is recorded right before the call.
        if (!paused && request.method === 'PATCH' && request.body?.includes('"attempts"') === true) {
          const answer = await send(request);
          paused = true;
          await pause(stage);
          return answer;
        }
        return send(request);
      });
      await stage.release(stage.id, { machine: stage.by });
      await stage.pass(20 * minute);
      assert.ok(paused);
      assert.equal(stage.server.status, 'ready');
      assert.equal(stage.scaleway.requests.filter((request) => request.endsWith('/reinstall')).length, 0);
      if (what !== 'the MacHost') assert.equal((await stage.host(stage.id)).status?.wipe, undefined);
    });
  }

  it('is left alone, and nothing is written over and over, while the watch of Clusters is behind', async (t) => {
    const stage = await setUp(t, { clusters: { get: () => undefined, list: () => [], subscribe: () => () => {} } });
    await stage.take();
    await stage.pass(minute);
    await stage.setPaused('macs', true);
    stage.changes();
    await stage.release(stage.id, { machine: stage.by });
    await stage.settle();
    const { resourceVersion } = (await stage.host(stage.id)).metadata;
    await stage.pass(20 * minute);
    assert.deepEqual(stage.changes(), []);
    assert.equal((await stage.host(stage.id)).metadata.resourceVersion, resourceVersion);
  });

  it('by the Cluster of a machine that is gone by now is not wiped', async (t) => {
    const stage = await setUp(t);
    await stage.take();
    await stage.pass(minute);
    await stage.setPaused('macs', true);
    await stage.release(stage.id, { machine: stage.by });
    await stage.deleteMachine('mac-1');
    stage.changes();
    await stage.pass(20 * minute);
    assert.deepEqual(stage.changes(), []);
  });

  it('is wiped when the pause is not its own: of another Cluster, or of another machine under the name', async (t) => {
    const stage = await setUp(t);
    await stage.take();
    await stage.pass(minute);
    await stage.setPaused('other', true);
    await stage.patchMachine({ annotations: { [annotations.paused]: '' } });
    await stage.release(stage.id, { machine: { ...stage.by, uid: 'that of an earlier one' } });
    await stage.pass(20 * minute);
    assert.equal((await stage.host(stage.id)).status?.state, 'pool');
  });

  it('is not wiped if nothing says which Cluster gave it back, while any Cluster of Macs is paused', async (t) => {
    const stage = await setUp(t);
    await stage.setPaused('macs', true);
    await stage.release(stage.id);
    stage.changes();
    await stage.pass(20 * minute);
    assert.deepEqual(stage.changes(), []);
    await stage.setPaused('macs', false);
    await stage.setPaused('other', true);
    await stage.pass(20 * minute);
    assert.equal((await stage.host(stage.id)).status?.state, 'pool');
  });

  it('finishes no wipe, but one that Scaleway has begun is seen to end', async (t) => {
    const stage = await setUp(t);
    await stage.take();
    await stage.pass(minute);
    await stage.release(stage.id, { machine: stage.by });
    await stage.settle();
    assert.equal(stage.server.status, 'reinstalling');
    await stage.setPaused('macs', true);
    stage.changes();
    await stage.pass(30 * minute);
    assert.deepEqual(stage.changes(), []);
    assert.ok((await stage.host(stage.id)).status?.wipe?.readyAt);
    await stage.setPaused('macs', false);
    await stage.pass(minute);
    assert.equal((await stage.host(stage.id)).status?.state, 'pool');
  });
});
