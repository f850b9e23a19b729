import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { ClusterUnderTest, RestartableCluster } from '../cluster.ts';
import { includes } from '../expect.ts';
import { configMap, secret } from '../objects.ts';
import { read, readText } from '../read.ts';
import type { Trial } from '../trial.ts';
import { whoAmI } from '../who-am-i.ts';
import { widget, widgets } from '../widgets.ts';

const endings = new WeakMap<ClusterUnderTest, () => Promise<void>>();

/** A `ClusterUnderTest` has no `restart`, so the function is kept here, by cluster. */
export const restartable = (cluster: RestartableCluster): ClusterUnderTest => {
  endings.set(cluster, () => cluster.restart());
  return cluster;
};

const crash = async ({ cluster }: Trial): Promise<void> => {
  const end = endings.get(cluster);
  assert.ok(end, `${cluster.name} cannot be restarted`);
  await end();
};

const version = (object: unknown): number => Number(readText(object, 'metadata.resourceVersion'));

export const restart = topic('restart', [
  behaviour('acknowledged objects still exist, with their versions', async (trial) => {
    const secrets = await trial.collection('secrets');
    const created = await trial.create(secrets, secret('a'));
    await trial.create(secrets, secret('b'));
    const edited = await trial.edit(`${secrets}/b`, { stringData: { x: 'y' } });
    await trial.create(secrets, secret('c'));
    await trial.remove(`${secrets}/c`);
    await crash(trial);
    assert.deepEqual(await trial.fetch(`${secrets}/a`), created);
    assert.deepEqual(await trial.fetch(`${secrets}/b`), edited);
    assert.equal((await trial.get(`${secrets}/c`)).code, 404);
  }),

  behaviour('versions continue to increase', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a'));
    await trial.remove(`${secrets}/a`);
    const last = version(await trial.fetch(secrets));
    await crash(trial);
    assert.ok(version(await trial.fetch(secrets)) >= last);
    assert.ok(version(await trial.create(secrets, secret('b'))) > last);
  }),

  behaviour('a stale write is still a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const old = await trial.create(configMaps, configMap('a'));
    await trial.edit(`${configMaps}/a`, { data: { x: '1' } });
    await crash(trial);
    assert.equal((await trial.put(`${configMaps}/a`, { ...old, data: { x: '2' } })).code, 409);
  }),

  behaviour('a watch continues from an earlier version, or is Expired', async (trial) => {
    const secrets = await trial.collection('secrets');
    const { metadata } = await trial.create(secrets, secret('a'));
    await trial.create(secrets, secret('b'));
    await crash(trial);
    const events = await trial.watch(`${secrets}?resourceVersion=${metadata.resourceVersion}`);
    await trial.create(secrets, secret('c'));
    const first = await events.next();
    if (first.type === 'ERROR') {
      includes(first.object, { code: 410, reason: 'Expired' });
      return;
    }
    assert.equal(first.object.metadata.name, 'b');
    assert.equal((await events.next()).object.metadata.name, 'c');
  }),

  behaviour('an open watch ends', async (trial) => {
    const events = await trial.watch(await trial.collection('secrets'));
    await crash(trial);
    await events.rest();
  }),

  behaviour('service account tokens stay valid', async (trial) => {
    const accounts = await trial.collection('serviceaccounts');
    await trial.waitFor(`${accounts}/default`, (account) => account !== undefined);
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const token = readText(await trial.create(`${accounts}/default/token`, request), 'status.token');
    await crash(trial);
    includes(await whoAmI(trial, { token }), { username: `system:serviceaccount:${await trial.namespace()}:default` });
  }),

  behaviour('the certificate authority is the same', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const before = await trial.waitFor(`${configMaps}/kube-root-ca.crt`, (object) => object !== undefined);
    await crash(trial);
    assert.deepEqual(read(await trial.fetch(`${configMaps}/kube-root-ca.crt`), 'data'), read(before, 'data'));
    const later = trial.unique('later');
    await trial.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: later } });
    trial.deleteAfterRun(`/api/v1/namespaces/${later}`);
    const path = `/api/v1/namespaces/${later}/configmaps/kube-root-ca.crt`;
    const fresh = await trial.waitFor(path, (object) => object !== undefined);
    assert.deepEqual(read(fresh, 'data'), read(before, 'data'));
  }),

  behaviour('custom resources are served again', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    await crash(trial);
    const again = await trial.eventually('the kind is served', async () => {
      const answer = await trial.get(`${path}/a`);
      return answer.code === 200 ? answer.json : undefined;
    });
    assert.deepEqual(again, created);
  }),

  behaviour('a deletion that had begun is completed', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const body = { ...configMap('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } };
    const owner = await trial.create(configMaps, body);
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    await trial.create(configMaps, { ...configMap('b'), metadata: { name: 'b', ownerReferences } });
    await trial.remove(`${configMaps}/a`);
    await crash(trial);
    assert.ok((await trial.fetch(`${configMaps}/a`)).metadata.deletionTimestamp);
    await trial.edit(`${configMaps}/a`, { metadata: { finalizers: null } });
    await trial.waitFor(`${configMaps}/b`, (object) => object === undefined);
  }),
]);
