import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps, isKubeError } from '@tartan/kube';
import { startCluster } from '../testing/cluster.ts';
import { createFurniture } from './furniture.ts';

const namespace = 'default';
const map = (name: string, finalizers: string[] = []) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: { namespace, name, finalizers },
});

describe('what is put into a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  before(async () => {
    cluster = await startCluster({ kinds: false, mayThey: ({ verb }) => verb !== 'create' });
  });
  after(() => cluster.stop());

  test('is taken out again, and what others made stays', async () => {
    const { admin } = cluster;
    await admin.create(configMaps, map('theirs'));
    const furniture = createFurniture(admin);
    for (const name of ['theirs', 'ours']) await furniture.ensure(configMaps, map(name));
    const names = async () => (await admin.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['ours', 'theirs']);
    await furniture.remove();
    assert.deepEqual(await names(), ['theirs']);
  });

  test('is waited for until it is gone', async () => {
    const { admin } = cluster;
    const furniture = createFurniture(admin);
    await furniture.ensure(configMaps, map('held', ['example.com/held']));
    let isOver = false;
    const removing = furniture.remove().then(() => {
      isOver = true;
    });
    const which = { namespace, name: 'held' };
    while ((await admin.get(configMaps, which)).metadata.deletionTimestamp === undefined);
    assert.equal(isOver, false);
    await admin.patch(configMaps, which, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await removing;
    await assert.rejects(admin.get(configMaps, which), (error) => isKubeError(error, 'notFound'));
  });

  test('is refused as the server refuses it', async () => {
    const furniture = createFurniture(cluster.connection.client);
    await assert.rejects(furniture.ensure(configMaps, map('ours')), (error) => isKubeError(error, 'forbidden'));
  });
});
