import assert from 'node:assert/strict';
import type { IPod } from 'kubernetes-models/v1/Pod';
import { isKubeError, type KubeErrorReason } from '../../errors/kube-error.ts';
import { configMaps, pods, secrets } from '../../objects/builtin.ts';
import { defineResource } from '../../objects/object.ts';
import { type Behaviour, defineWidgets, waitForAccount } from './fixture.ts';

const apiVersion = 'v1';
export const configMap = (namespace: string, name: string, data: Record<string, string> = {}) =>
  ({
    apiVersion,
    kind: 'ConfigMap' as const,
    metadata: { namespace, name },
    data,
  }) as const;

export const pod = (namespace: string, name: string, nodeName?: string): IPod => ({
  apiVersion,
  kind: 'Pod',
  metadata: { namespace, name },
  spec: {
    schedulerName: 'nobody',
    containers: [{ name: 'main', image: 'registry.example/mac:1' }],
    tolerations: [{ operator: 'Exists' }],
    ...(nodeName === undefined ? {} : { nodeName }),
  },
});

/** Rejected with that reason and with a message that names the attempted request. */
export const refused = async (work: Promise<unknown>, reason: KubeErrorReason, text = /^Cannot /): Promise<void> => {
  await assert.rejects(work, { name: 'KubeError', reason, message: text });
};

export const writing: readonly Behaviour[] = [
  {
    sentence: 'an object is created, read and updated',
    run: async ({ client, namespace }) => {
      const created = await client.create(configMaps, configMap(namespace, 'a', { x: 'grüße 🍏' }));
      assert.equal(created.kind, 'ConfigMap');
      const read = await client.get(configMaps, { namespace, name: 'a' });
      assert.deepEqual(read, created);
      const updated = await client.update(configMaps, { ...read, data: { x: '2' } });
      assert.deepEqual(updated.data, { x: '2' });
      assert.notEqual(updated.metadata.resourceVersion, read.metadata.resourceVersion);
      await refused(client.update(configMaps, { ...read, data: { x: '3' } }), 'conflict');
    },
  },
  {
    sentence: 'an error has a reason and a message',
    run: async ({ client, stranger, namespace }) => {
      await refused(
        client.get(configMaps, { namespace, name: 'a' }),
        'notFound',
        /get configmaps client-.*\/a.* not found/,
      );
      await client.create(configMaps, configMap(namespace, 'a'));
      await refused(client.create(configMaps, configMap(namespace, 'a')), 'alreadyExists');
      await assert.rejects(client.create(configMaps, configMap(namespace, 'NO')), (error: unknown) => {
        assert.ok(isKubeError(error, 'invalid'));
        assert.deepEqual([error.code, error.causes[0]?.field], [422, 'metadata.name']);
        return true;
      });
      const nothing = { group: 'nowhere.example.com', version: 'v1', kind: 'X', plural: 'xs', namespaced: false };
      await refused(client.get(defineResource(nothing), { name: 'a' }), 'notFound', /does not serve this kind/);
      await refused(client.get(defineResource({ ...nothing, group: '' }), { name: 'a' }), 'notFound');
      await refused(stranger.get(configMaps, { namespace, name: 'a' }), 'unauthorized');
    },
  },
  {
    sentence: 'unknown fields are rejected, or dropped on request',
    run: async ({ client, namespace }) => {
      const misspelt = { ...configMap(namespace, 'a'), dataa: { x: '1' } };
      await refused(client.create(configMaps, misspelt), 'badRequest', /unknown field "dataa"/);
      const created = await client.create(configMaps, misspelt, { fieldValidation: 'Ignore' });
      assert.equal('dataa' in created, false);
    },
  },
  {
    sentence: 'all patch types are supported',
    run: async ({ client, namespace }) => {
      const name = { namespace, name: 'a' };
      await client.create(configMaps, configMap(namespace, 'a', { x: '1', y: '1' }));
      const merged = await client.patch(configMaps, name, { type: 'merge', body: { data: { x: null, z: '2' } } });
      assert.deepEqual(merged.data, { y: '1', z: '2' });
      const json = await client.patch(configMaps, name, {
        type: 'json',
        body: [
          { op: 'test', path: '/data/y', value: '1' },
          { op: 'remove', path: '/data/y' },
        ],
      });
      assert.deepEqual(json.data, { z: '2' });
      const strategic = { metadata: { finalizers: ['example.com/one'] } };
      await client.patch(configMaps, name, { type: 'strategic', body: strategic });
      const both = { metadata: { finalizers: ['example.com/two'] } };
      const { metadata } = await client.patch(configMaps, name, { type: 'strategic', body: both });
      assert.deepEqual(metadata.finalizers?.toSorted(), ['example.com/one', 'example.com/two']);
      const stale = { metadata: { resourceVersion: merged.metadata.resourceVersion }, data: { z: '3' } };
      await refused(client.patch(configMaps, name, { type: 'merge', body: stale }), 'conflict');
      await client.patch(configMaps, name, { type: 'merge', body: { metadata: { finalizers: null } } });
    },
  },
  {
    sentence: 'a dry run returns the object and stores nothing',
    run: async ({ client, namespace }) => {
      const created = await client.create(configMaps, configMap(namespace, 'a'), { dryRun: true });
      assert.equal(created.metadata.resourceVersion, '');
      assert.notEqual(created.metadata.uid, '');
      await refused(client.get(configMaps, { namespace, name: 'a' }), 'notFound');
      await client.create(configMaps, configMap(namespace, 'a'));
      await client.delete(configMaps, { namespace, name: 'a' }, { dryRun: true });
      await client.get(configMaps, { namespace, name: 'a' });
    },
  },
  {
    sentence: 'a delete has preconditions, and reports whether the object is gone',
    run: async ({ client, namespace }) => {
      const name = { namespace, name: 'a' };
      const { metadata } = await client.create(secrets, {
        apiVersion,
        kind: 'Secret',
        metadata: { ...name, finalizers: ['example.com/hold'] },
      });
      await refused(client.delete(secrets, name, { preconditions: { uid: 'another' } }), 'conflict');
      const held = await client.delete(secrets, name, { preconditions: { uid: metadata.uid } });
      assert.equal(typeof held?.metadata.deletionTimestamp, 'string');
      await client.patch(secrets, name, { type: 'merge', body: { metadata: { finalizers: null } } });
      await refused(client.delete(secrets, name), 'notFound');
      await client.create(secrets, { apiVersion, kind: 'Secret', metadata: name });
      assert.equal(await client.delete(secrets, name), undefined);
    },
  },
  {
    sentence: 'a Pod on a Node is deleted gracefully, or at once with gracePeriodSeconds 0',
    run: async (fixture) => {
      const { client, namespace } = fixture;
      await waitForAccount(fixture);
      const name = { namespace, name: 'a' };
      await client.create(pods, pod(namespace, 'a', 'ghost'));
      const leaving = await client.delete(pods, name, { gracePeriodSeconds: 7 });
      assert.equal(leaving?.metadata.deletionGracePeriodSeconds, 7);
      assert.equal(await client.delete(pods, name, { gracePeriodSeconds: 0 }), undefined);
      await refused(client.get(pods, name), 'notFound');
    },
  },
  {
    sentence: 'a custom resource keeps every field, and has a status subresource',
    run: async (fixture) => {
      const { client, namespace } = fixture;
      const { widgets, remove } = await defineWidgets(fixture);
      const name = { namespace, name: 'a' };
      const anything = { deep: [{ x: 1.5, ümlaut: null }], __proto__x: true };
      const created = await client.create(widgets, {
        apiVersion: `${widgets.group}/v1`,
        kind: 'Widget',
        metadata: name,
        spec: { replicas: 2, anything },
      });
      assert.deepEqual(created.spec.anything, anything);
      const changed = { ...created, spec: { replicas: 5 }, status: { phase: 'Ready' } };
      const written = await client.update(widgets, changed, { subresource: 'status' });
      assert.deepEqual([written.spec.replicas, written.status?.phase], [2, 'Ready']);
      assert.deepEqual((await client.get(widgets, name)).spec.anything, anything);
      await remove();
    },
  },
];
