import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { annotations, cluster } from '@tartan/api';
import { getCondition, type ObjectMeta } from '@tartan/kube';
import { createClusterController } from './controller.ts';
import { clusters, createHarness, namespace } from './testing/harness.ts';

const begin = async (t: TestContext, metadata: ObjectMeta = {}, { owned = true } = {}) => {
  const stage = await createHarness(t);
  const { client, owner, clock, log } = stage;
  await client.create(
    cluster.resource,
    cluster.make({ metadata: { name: 'macs', namespace, ...(owned && { ownerReferences: [owner] }), ...metadata } }),
  );
  const start = async () => {
    const infrastructureClusters = await stage.follow(cluster.resource);
    const controller = createClusterController({
      client: stage.theirs,
      infrastructureClusters,
      clusters: await stage.follow(clusters),
      clock,
      log,
    });
    await stage.run(controller);
  };
  const get = () => client.get(cluster.resource, { namespace, name: 'macs' });
  const reasonOf = async (type: string) => getCondition((await get()).status?.conditions, type)?.reason;
  const patch = async (body: object) => {
    await client.patch(cluster.resource, { namespace, name: 'macs' }, { type: 'merge', body });
    await stage.settle();
  };
  return { ...stage, start, get, reasonOf, patch };
};

test('the infrastructure is provisioned at once, by both contracts, and written once', async (t) => {
  const stage = await begin(t);
  await stage.start();
  const { status, metadata } = await stage.get();
  assert.equal(status?.ready, true);
  assert.deepEqual(status.initialization, { provisioned: true });
  assert.equal(status.observedGeneration, metadata.generation);
  assert.equal(await stage.reasonOf('Ready'), 'Provisioned');
  assert.equal(metadata.finalizers, undefined);
  await stage.pass(60);
  assert.equal(stage.writes.length, 2, 'the annotation, and the status');
});

test('clusterctl is kept from moving it, and a condition says why', async (t) => {
  const stage = await begin(t);
  await stage.start();
  assert.ok(annotations.blockMove in ((await stage.get()).metadata.annotations ?? {}));
  assert.equal(await stage.reasonOf('MoveBlocked'), 'MacsAreNodesHere');
  await stage.patch({ metadata: { annotations: { [annotations.blockMove]: null } } });
  assert.ok(annotations.blockMove in ((await stage.get()).metadata.annotations ?? {}), 'it is put back');
});

test('while it is paused, it gets no annotation', async (t) => {
  const stage = await begin(t);
  await stage.setPaused(true);
  await stage.start();
  assert.equal((await stage.get()).metadata.annotations, undefined);
});

test('the status is not written before core owns the object', async (t) => {
  const stage = await begin(t, {}, { owned: false });
  await stage.start();
  assert.equal((await stage.get()).status, undefined);
  await stage.patch({ metadata: { ownerReferences: [stage.owner] } });
  assert.equal((await stage.get()).status?.ready, true);
});

test('while the Cluster is paused, only the Paused condition changes', async (t) => {
  const stage = await begin(t);
  await stage.setPaused(true);
  await stage.start();
  assert.equal(await stage.reasonOf('Paused'), 'Paused');
  assert.equal((await stage.get()).status?.initialization, undefined);
  await stage.setPaused(false);
  assert.equal(await stage.reasonOf('Paused'), 'NotPaused');
  assert.deepEqual((await stage.get()).status?.initialization, { provisioned: true });
});

test('the paused annotation pauses whatever its value, and leaves other conditions as they are', async (t) => {
  const stage = await begin(t);
  await stage.start();
  await stage.patch({ metadata: { annotations: { [annotations.paused]: '' } } });
  assert.equal(await stage.reasonOf('Paused'), 'Paused');
  assert.equal((await stage.get()).status?.ready, true);
});

test('what somebody else manages is not touched', async (t) => {
  const stage = await begin(t, { annotations: { [annotations.externallyManaged]: 'x' } });
  await stage.start();
  assert.deepEqual(stage.writes, []);
});

test('an owner of another UID is another Cluster', async (t) => {
  const stage = await begin(t, {}, { owned: false });
  await stage.patch({ metadata: { ownerReferences: [{ ...stage.owner, uid: 'before' }] } });
  await stage.start();
  assert.deepEqual(stage.writes, []);
});
