import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { ClusterUnderTest, RestartableCluster } from '../cluster.ts';
import { includes } from '../expect.ts';
import { configMap, secret } from '../objects.ts';
import { read, readText } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';
import { whoAmI } from '../who-am-i.ts';
import { widget, widgets } from '../widgets.ts';

const endings = new WeakMap<ClusterUnderTest, () => Promise<void>>();

/** A `ClusterUnderTest` has no `restart`, so the function is kept here, by cluster. */
export const restartable = (cluster: RestartableCluster): ClusterUnderTest => {
  endings.set(cluster, () => cluster.restart());
  return cluster;
};

const crash = async ({ cluster }: BehaviourContext): Promise<void> => {
  const end = endings.get(cluster);
  assert.ok(end, `${cluster.name} cannot be restarted`);
  await end();
};

const version = (object: unknown): number => Number(readText(object, 'metadata.resourceVersion'));

export const restart = topic('restart', [
  behaviour('acknowledged objects still exist, with their versions', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    const edited = await context.edit(`${secrets}/b`, { stringData: { x: 'y' } });
    await context.create(secrets, secret('c'));
    await context.remove(`${secrets}/c`);
    await crash(context);
    assert.deepEqual(await context.fetch(`${secrets}/a`), created);
    assert.deepEqual(await context.fetch(`${secrets}/b`), edited);
    assert.equal((await context.get(`${secrets}/c`)).code, 404);
  }),

  behaviour('versions continue to increase', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    await context.remove(`${secrets}/a`);
    const last = version(await context.fetch(secrets));
    await crash(context);
    assert.ok(version(await context.fetch(secrets)) >= last);
    assert.ok(version(await context.create(secrets, secret('b'))) > last);
  }),

  behaviour('a stale write is still a Conflict', async (context) => {
    const configMaps = await context.collection('configmaps');
    const old = await context.create(configMaps, configMap('a'));
    await context.edit(`${configMaps}/a`, { data: { x: '1' } });
    await crash(context);
    assert.equal((await context.put(`${configMaps}/a`, { ...old, data: { x: '2' } })).code, 409);
  }),

  behaviour('a watch continues from an earlier version, or is Expired', async (context) => {
    const secrets = await context.collection('secrets');
    const { metadata } = await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    await crash(context);
    const events = await context.watch(`${secrets}?resourceVersion=${metadata.resourceVersion}`);
    await context.create(secrets, secret('c'));
    const first = await events.next();
    if (first.type === 'ERROR') {
      includes(first.object, { code: 410, reason: 'Expired' });
      return;
    }
    assert.equal(first.object.metadata.name, 'b');
    assert.equal((await events.next()).object.metadata.name, 'c');
  }),

  behaviour('an open watch ends', async (context) => {
    const events = await context.watch(await context.collection('secrets'));
    await crash(context);
    await events.rest();
  }),

  behaviour('service account tokens stay valid', async (context) => {
    const accounts = await context.collection('serviceaccounts');
    await context.waitFor(`${accounts}/default`, (account) => account !== undefined);
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const token = readText(await context.create(`${accounts}/default/token`, request), 'status.token');
    await crash(context);
    includes(await whoAmI(context, { token }), {
      username: `system:serviceaccount:${await context.namespace()}:default`,
    });
  }),

  behaviour('the certificate authority is the same', async (context) => {
    const configMaps = await context.collection('configmaps');
    const before = await context.waitFor(`${configMaps}/kube-root-ca.crt`, (object) => object !== undefined);
    await crash(context);
    assert.deepEqual(read(await context.fetch(`${configMaps}/kube-root-ca.crt`), 'data'), read(before, 'data'));
    const later = context.unique('later');
    await context.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: later } });
    context.deleteAfterRun(`/api/v1/namespaces/${later}`);
    const path = `/api/v1/namespaces/${later}/configmaps/kube-root-ca.crt`;
    const fresh = await context.waitFor(path, (object) => object !== undefined);
    assert.deepEqual(read(fresh, 'data'), read(before, 'data'));
  }),

  behaviour('custom resources are served again', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    await crash(context);
    const again = await context.eventually('the kind is served', async () => {
      const answer = await context.get(`${path}/a`);
      return answer.code === 200 ? answer.json : undefined;
    });
    assert.deepEqual(again, created);
  }),

  behaviour('a deletion that had begun is completed', async (context) => {
    const configMaps = await context.collection('configmaps');
    const body = { ...configMap('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } };
    const owner = await context.create(configMaps, body);
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    await context.create(configMaps, { ...configMap('b'), metadata: { name: 'b', ownerReferences } });
    await context.remove(`${configMaps}/a`);
    await crash(context);
    assert.ok((await context.fetch(`${configMaps}/a`)).metadata.deletionTimestamp);
    await context.edit(`${configMaps}/a`, { metadata: { finalizers: null } });
    await context.waitFor(`${configMaps}/b`, (object) => object === undefined);
  }),
]);
