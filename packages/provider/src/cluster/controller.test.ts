import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { annotations, cluster } from '@tartan/api';
import { getCondition, type ObjectMeta } from '@tartan/kube';
import { createClusterController } from './controller.ts';
import { clusters, createHarness, namespace } from './testing/harness.ts';

const begin = async (t: TestContext, metadata: ObjectMeta = {}, { owned = true } = {}) => {
  const harness = await createHarness(t);
  const { client, owner, clock, log } = harness;
  await client.create(
    cluster.resource,
    cluster.make({ metadata: { name: 'macs', namespace, ...(owned && { ownerReferences: [owner] }), ...metadata } }),
  );
  const start = async () => {
    const infrastructureClusters = await harness.follow(cluster.resource);
    const controller = createClusterController({
      client: harness.theirs,
      infrastructureClusters,
      clusters: await harness.follow(clusters),
      clock,
      log,
    });
    await harness.run(controller);
  };
  const get = () => client.get(cluster.resource, { namespace, name: 'macs' });
  const reasonOf = async (type: string) => getCondition((await get()).status?.conditions, type)?.reason;
  const patch = async (body: object) => {
    await client.patch(cluster.resource, { namespace, name: 'macs' }, { type: 'merge', body });
    await harness.settle();
  };
  return { ...harness, start, get, reasonOf, patch };
};

test('status reports the infrastructure as provisioned at once, in both contract versions, with one write', async (t) => {
  const harness = await begin(t);
  await harness.start();
  const { status, metadata } = await harness.get();
  assert.equal(status?.ready, true);
  assert.deepEqual(status.initialization, { provisioned: true });
  assert.equal(status.observedGeneration, metadata.generation);
  assert.equal(await harness.reasonOf('Ready'), 'Provisioned');
  assert.equal(metadata.finalizers, undefined);
  await harness.pass(60);
  assert.equal(harness.writes.length, 2, 'the annotation, and the status');
});

test('the annotation that blocks clusterctl move is set, and a condition says why', async (t) => {
  const harness = await begin(t);
  await harness.start();
  assert.ok(annotations.blockMove in ((await harness.get()).metadata.annotations ?? {}));
  assert.equal(await harness.reasonOf('MoveBlocked'), 'MacsAreNodesHere');
  await harness.patch({ metadata: { annotations: { [annotations.blockMove]: null } } });
  assert.ok(annotations.blockMove in ((await harness.get()).metadata.annotations ?? {}), 'it is put back');
});

test('a paused object gets no annotation', async (t) => {
  const harness = await begin(t);
  await harness.setPaused(true);
  await harness.start();
  assert.equal((await harness.get()).metadata.annotations, undefined);
});

test('the status is not written before a Cluster owns the object', async (t) => {
  const harness = await begin(t, {}, { owned: false });
  await harness.start();
  assert.equal((await harness.get()).status, undefined);
  await harness.patch({ metadata: { ownerReferences: [harness.owner] } });
  assert.equal((await harness.get()).status?.ready, true);
});

test('while the Cluster is paused, only the Paused condition changes', async (t) => {
  const harness = await begin(t);
  await harness.setPaused(true);
  await harness.start();
  assert.equal(await harness.reasonOf('Paused'), 'Paused');
  assert.equal((await harness.get()).status?.initialization, undefined);
  await harness.setPaused(false);
  assert.equal(await harness.reasonOf('Paused'), 'NotPaused');
  assert.deepEqual((await harness.get()).status?.initialization, { provisioned: true });
});

test('the paused annotation pauses whatever its value, and leaves other conditions as they are', async (t) => {
  const harness = await begin(t);
  await harness.start();
  await harness.patch({ metadata: { annotations: { [annotations.paused]: '' } } });
  assert.equal(await harness.reasonOf('Paused'), 'Paused');
  assert.equal((await harness.get()).status?.ready, true);
});

test('an object managed by another controller is not touched', async (t) => {
  const harness = await begin(t, { annotations: { [annotations.externallyManaged]: 'x' } });
  await harness.start();
  assert.deepEqual(harness.writes, []);
});

test('an owner with another UID is another Cluster', async (t) => {
  const harness = await begin(t, {}, { owned: false });
  await harness.patch({ metadata: { ownerReferences: [{ ...harness.owner, uid: 'before' }] } });
  await harness.start();
  assert.deepEqual(harness.writes, []);
});
