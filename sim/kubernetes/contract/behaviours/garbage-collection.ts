import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { configMap } from '../objects.ts';

const ownedBy = (name: string, owners: KubeObject[], more: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    ownerReferences: owners.map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid,
      ...more,
    })),
  },
});

const policy = (propagationPolicy: string): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  propagationPolicy,
});

const gone = (object: KubeObject | undefined): boolean => object === undefined;

export const garbageCollection = topic('garbage collection', [
  behaviour('dependents are deleted after their owner, also indirect ones', async (context) => {
    const configMaps = await context.collection('configmaps');
    const owner = await context.create(configMaps, configMap('owner'));
    const child = await context.create(configMaps, ownedBy('child', [owner]));
    await context.create(configMaps, ownedBy('grandchild', [child]));
    await context.remove(`${configMaps}/owner`);
    assert.equal((await context.get(`${configMaps}/owner`)).code, 404);
    await context.waitFor(`${configMaps}/grandchild`, gone);
  }),

  behaviour('an owner is identified by its UID: one with the same name does not count', async (context) => {
    const configMaps = await context.collection('configmaps');
    const owner = await context.create(configMaps, configMap('owner'));
    const impostor = { ...owner, metadata: { ...owner.metadata, uid: crypto.randomUUID() } };
    await context.create(configMaps, ownedBy('child', [impostor]));
    await context.waitFor(`${configMaps}/child`, gone);
    await context.fetch(`${configMaps}/owner`);
  }),

  behaviour('a dependent with one of two owners left stays, and loses the dangling reference', async (context) => {
    const configMaps = await context.collection('configmaps');
    const first = await context.create(configMaps, configMap('first'));
    const second = await context.create(configMaps, configMap('second'));
    await context.create(configMaps, ownedBy('child', [first, second]));
    await context.remove(`${configMaps}/first`);
    const child = await context.waitFor(
      `${configMaps}/child`,
      (object) => object?.metadata.ownerReferences?.length === 1,
    );
    assert.equal(child?.metadata.ownerReferences?.[0]?.uid, second.metadata.uid);
  }),

  behaviour('Orphan keeps the dependents, without the reference', async (context) => {
    const configMaps = await context.collection('configmaps');
    const owner = await context.create(configMaps, configMap('owner'));
    await context.create(configMaps, ownedBy('child', [owner]));
    const answer = await context.delete(`${configMaps}/owner`, policy('Orphan'));
    assert.deepEqual(objectIn(answer).metadata.finalizers, ['orphan']);
    await context.waitFor(`${configMaps}/owner`, gone);
    const child = await context.fetch(`${configMaps}/child`);
    assert.equal(child.metadata.ownerReferences, undefined);
  }),

  behaviour('Foreground deletes the owner after the dependents that block it', async (context) => {
    const configMaps = await context.collection('configmaps');
    const owner = await context.create(configMaps, configMap('owner'));
    await context.create(configMaps, ownedBy('child', [owner], { blockOwnerDeletion: true }));
    await context.edit(`${configMaps}/child`, { metadata: { finalizers: ['example.com/hold'] } });
    const answer = await context.delete(`${configMaps}/owner`, policy('Foreground'));
    const marked = objectIn(answer);
    assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion']);
    assert.ok(marked.metadata.deletionTimestamp);
    await context.waitFor(`${configMaps}/child`, (child) => child?.metadata.deletionTimestamp !== undefined);
    await context.fetch(`${configMaps}/owner`);
    await context.edit(`${configMaps}/child`, { metadata: { finalizers: null } });
    await context.waitFor(`${configMaps}/owner`, gone);
  }),

  behaviour('Foreground does not wait for a dependent that does not block', async (context) => {
    const configMaps = await context.collection('configmaps');
    const owner = await context.create(configMaps, configMap('owner'));
    await context.create(configMaps, ownedBy('child', [owner]));
    await context.edit(`${configMaps}/child`, { metadata: { finalizers: ['example.com/hold'] } });
    await context.remove(`${configMaps}/owner`, policy('Foreground'));
    await context.waitFor(`${configMaps}/owner`, gone);
    await context.edit(`${configMaps}/child`, { metadata: { finalizers: null } });
  }),

  behaviour('a namespaced owner is in the namespace of the dependent', async (context) => {
    const configMaps = await context.collection('configmaps');
    const elsewhere = await context.fetch('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
    await context.create(configMaps, ownedBy('child', [elsewhere]));
    await context.waitFor(`${configMaps}/child`, gone);
  }),

  behaviour('a cluster-scoped owner may own a namespaced object', async (context) => {
    const configMaps = await context.collection('configmaps');
    const namespace = await context.fetch(`/api/v1/namespaces/${await context.namespace()}`);
    await context.create(configMaps, ownedBy('child', [namespace]));
    const marker = await context.create(configMaps, configMap('marker'));
    await context.create(
      configMaps,
      ownedBy('after', [{ ...marker, metadata: { ...marker.metadata, uid: crypto.randomUUID() } }]),
    );
    await context.waitFor(`${configMaps}/after`, gone);
    await context.fetch(`${configMaps}/child`);
  }),
]);
