import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps, isKubeError } from '@tartan/kube';
import { startCluster } from '../testing/cluster.ts';
import { createInstaller } from './installer.ts';

const namespace = 'default';
const map = (name: string, finalizers: string[] = []) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: { namespace, name, finalizers },
});

describe('the installer', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  before(async () => {
    cluster = await startCluster({ kinds: false, mayThey: ({ verb }) => verb !== 'create' });
  });
  after(() => cluster.stop());

  test('removes what it created and keeps existing objects', async () => {
    const { admin } = cluster;
    await admin.create(configMaps, map('theirs'));
    const furniture = createInstaller(admin);
    for (const name of ['theirs', 'ours']) await furniture.ensure(configMaps, map(name));
    const names = async () => (await admin.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['ours', 'theirs']);
    await furniture.remove();
    assert.deepEqual(await names(), ['theirs']);
  });

  test('waits for each deletion', async () => {
    const { admin } = cluster;
    const furniture = createInstaller(admin);
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

  test('passes errors of the server through', async () => {
    const furniture = createInstaller(cluster.connection.client);
    await assert.rejects(furniture.ensure(configMaps, map('ours')), (error) => isKubeError(error, 'forbidden'));
  });
});
