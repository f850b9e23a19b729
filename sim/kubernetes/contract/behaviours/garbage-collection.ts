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
  behaviour('dependents are deleted after their owner, also indirect ones', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const owner = await trial.create(configMaps, configMap('owner'));
    const child = await trial.create(configMaps, ownedBy('child', [owner]));
    await trial.create(configMaps, ownedBy('grandchild', [child]));
    await trial.remove(`${configMaps}/owner`);
    assert.equal((await trial.get(`${configMaps}/owner`)).code, 404);
    await trial.waitFor(`${configMaps}/grandchild`, gone);
  }),

  behaviour('an owner is identified by its UID: one with the same name does not count', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const owner = await trial.create(configMaps, configMap('owner'));
    const impostor = { ...owner, metadata: { ...owner.metadata, uid: crypto.randomUUID() } };
    await trial.create(configMaps, ownedBy('child', [impostor]));
    await trial.waitFor(`${configMaps}/child`, gone);
    await trial.fetch(`${configMaps}/owner`);
  }),

  behaviour('a dependent with one of two owners left stays, and loses the dangling reference', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const first = await trial.create(configMaps, configMap('first'));
    const second = await trial.create(configMaps, configMap('second'));
    await trial.create(configMaps, ownedBy('child', [first, second]));
    await trial.remove(`${configMaps}/first`);
    const child = await trial.waitFor(
      `${configMaps}/child`,
      (object) => object?.metadata.ownerReferences?.length === 1,
    );
    assert.equal(child?.metadata.ownerReferences?.[0]?.uid, second.metadata.uid);
  }),

  behaviour('Orphan keeps the dependents, without the reference', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const owner = await trial.create(configMaps, configMap('owner'));
    await trial.create(configMaps, ownedBy('child', [owner]));
    const answer = await trial.delete(`${configMaps}/owner`, policy('Orphan'));
    assert.deepEqual(objectIn(answer).metadata.finalizers, ['orphan']);
    await trial.waitFor(`${configMaps}/owner`, gone);
    const child = await trial.fetch(`${configMaps}/child`);
    assert.equal(child.metadata.ownerReferences, undefined);
  }),

  behaviour('Foreground deletes the owner after the dependents that block it', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const owner = await trial.create(configMaps, configMap('owner'));
    await trial.create(configMaps, ownedBy('child', [owner], { blockOwnerDeletion: true }));
    await trial.edit(`${configMaps}/child`, { metadata: { finalizers: ['example.com/hold'] } });
    const answer = await trial.delete(`${configMaps}/owner`, policy('Foreground'));
    const marked = objectIn(answer);
    assert.deepEqual(marked.metadata.finalizers, ['foregroundDeletion']);
    assert.ok(marked.metadata.deletionTimestamp);
    await trial.waitFor(`${configMaps}/child`, (child) => child?.metadata.deletionTimestamp !== undefined);
    await trial.fetch(`${configMaps}/owner`);
    await trial.edit(`${configMaps}/child`, { metadata: { finalizers: null } });
    await trial.waitFor(`${configMaps}/owner`, gone);
  }),

  behaviour('Foreground does not wait for a dependent that does not block', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const owner = await trial.create(configMaps, configMap('owner'));
    await trial.create(configMaps, ownedBy('child', [owner]));
    await trial.edit(`${configMaps}/child`, { metadata: { finalizers: ['example.com/hold'] } });
    await trial.remove(`${configMaps}/owner`, policy('Foreground'));
    await trial.waitFor(`${configMaps}/owner`, gone);
    await trial.edit(`${configMaps}/child`, { metadata: { finalizers: null } });
  }),

  behaviour('a namespaced owner is in the namespace of the dependent', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const elsewhere = await trial.fetch('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
    await trial.create(configMaps, ownedBy('child', [elsewhere]));
    await trial.waitFor(`${configMaps}/child`, gone);
  }),

  behaviour('a cluster-scoped owner may own a namespaced object', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const namespace = await trial.fetch(`/api/v1/namespaces/${await trial.namespace()}`);
    await trial.create(configMaps, ownedBy('child', [namespace]));
    const marker = await trial.create(configMaps, configMap('marker'));
    await trial.create(
      configMaps,
      ownedBy('after', [{ ...marker, metadata: { ...marker.metadata, uid: crypto.randomUUID() } }]),
    );
    await trial.waitFor(`${configMaps}/after`, gone);
    await trial.fetch(`${configMaps}/child`);
  }),
]);
