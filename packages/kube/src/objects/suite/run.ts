import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { createClient } from '../../client/create-client.ts';
import { createSubresources } from '../../client/subresources.ts';
import { type Behaviour, createNamespace, defineWidgets } from '../../client/suite/fixture.ts';
import type { ClusterUnderTest } from '../../client/suite/run.ts';
import { systemClock } from '../../clock/clock.ts';
import { isKubeError } from '../../errors/kube-error.ts';
import { createEventRecorder } from '../../events/recorder.ts';
import { recordedLog } from '../../informer/testing/recorded-log.ts';
import { configMaps, events, namespaces } from '../builtin.ts';
import { addFinalizer, removeFinalizer } from '../finalizers.ts';
import type { ObjectMeta } from '../object.ts';
import { controllerReference, withOwnerReference } from '../owners.ts';
import { patchStatus } from '../status.ts';

const ours = 'example.com/ours';

const configMap = (namespace: string, metadata: ObjectMeta = {}): IConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace, ...metadata },
});

const behaviours: readonly Behaviour[] = [
  {
    sentence: 'an object with a finalizer stays until the finalizer is removed',
    run: async ({ client, namespace }) => {
      const name = { namespace, name: 'a' };
      const created = await client.create(configMaps, configMap(namespace, { finalizers: ['example.com/theirs'] }));
      const held = await addFinalizer(client, configMaps, created, ours);
      assert.deepEqual(held.metadata.finalizers, ['example.com/theirs', ours]);
      await client.delete(configMaps, name);
      await removeFinalizer(client, configMaps, await client.get(configMaps, name), ours);
      const left = await client.get(configMaps, name);
      assert.deepEqual(left.metadata.finalizers, ['example.com/theirs']);
      await assert.rejects(addFinalizer(client, configMaps, left, ours), (error) => isKubeError(error, 'invalid'));
      const { resourceVersion } = left.metadata;
      const body = { metadata: { resourceVersion, finalizers: [] } };
      await client.patch(configMaps, name, { type: 'merge', body });
      await assert.rejects(client.get(configMaps, name), (error) => isKubeError(error, 'notFound'));
    },
  },
  {
    sentence: 'a write from a stale copy never removes a finalizer of others',
    run: async ({ client, namespace }) => {
      const stale = await client.create(configMaps, configMap(namespace));
      await addFinalizer(client, configMaps, stale, 'example.com/theirs');
      await assert.rejects(addFinalizer(client, configMaps, stale, ours), (error) => isKubeError(error, 'conflict'));
      const name = { namespace, name: 'a' };
      assert.deepEqual((await client.get(configMaps, name)).metadata.finalizers, ['example.com/theirs']);
      await client.patch(configMaps, name, { type: 'merge', body: { metadata: { finalizers: null } } });
    },
  },
  {
    sentence: 'a status becomes exactly the requested one, and a stale write is a conflict',
    run: async (fixture) => {
      const { client, namespace } = fixture;
      const { widgets, remove } = await defineWidgets(fixture);
      const metadata = { namespace, name: 'a' };
      const apiVersion = `${widgets.group}/v1`;
      const fresh = await client.create(widgets, { apiVersion, kind: 'Widget', metadata, spec: { replicas: 1 } });
      const first = await patchStatus(client, widgets, fresh, { phase: 'Ready', replicas: 1 });
      assert.deepEqual(first.status, { phase: 'Ready', replicas: 1 });
      assert.equal(await patchStatus(client, widgets, first, { replicas: 1, phase: 'Ready' }), first);
      const second = await patchStatus(client, widgets, first, { replicas: 2 });
      assert.deepEqual(second.status, { replicas: 2 });
      assert.deepEqual(second.spec, { replicas: 1 });
      const late = patchStatus(client, widgets, first, { phase: 'Late' });
      await assert.rejects(late, (error) => isKubeError(error, 'conflict'));
      await remove();
    },
  },
  {
    sentence: 'an owner reference is accepted by the server',
    run: async ({ client, namespace }) => {
      const owner = await client.create(configMaps, configMap(namespace));
      const ownerReferences = withOwnerReference(undefined, controllerReference(owner, configMaps));
      const owned = await client.create(configMaps, configMap(namespace, { name: 'b', ownerReferences }));
      assert.deepEqual(owned.metadata.ownerReferences, ownerReferences);
    },
  },
  {
    sentence: 'events are stored, counted, and found by their object',
    run: async ({ client, namespace }) => {
      const { log, lines } = recordedLog();
      const options = { client, clock: systemClock, component: 'example.com/tests', instance: 'pod-1', log };
      const recorder = createEventRecorder(options);
      const object = await client.create(configMaps, configMap(namespace));
      const cluster = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, uid: 'u' } };
      recorder.event(object, { type: 'Warning', reason: 'Tested', message: 'x'.repeat(5000) });
      recorder.event(cluster, { type: 'Normal', reason: 'Tested', message: 'once' });
      await recorder.flush(10_000);
      const again = createEventRecorder(options);
      again.event(object, { type: 'Normal', reason: 'Again', message: 'm' });
      again.event(object, { type: 'Normal', reason: 'Again', message: 'm' });
      await again.flush(10_000);
      assert.deepEqual(lines, []);
      const fieldSelector = `involvedObject.name=a,involvedObject.uid=${object.metadata.uid}`;
      const { items } = await client.list(events, { namespace, fieldSelector });
      const shown = items.map(({ reason, type, count, message }) => [reason, type, count, message?.length].join());
      assert.deepEqual(shown.sort(), ['Again,Normal,2,1', 'Tested,Warning,1,1022']);
      assert.equal(items[0]?.reportingComponent, 'example.com/tests');
      const others = await client.list(events, {
        namespace: 'default',
        fieldSelector: `involvedObject.name=${namespace}`,
      });
      assert.equal(others.items.length, 1);
    },
  },
];

/** The contract of the object helpers and the event recorder, for every server. Registers one test per behaviour. */
export const runObjectSuite = (title: string, start: () => Promise<ClusterUnderTest>): void => {
  describe(title, () => {
    let cluster: ClusterUnderTest | undefined;
    before(async () => {
      cluster = await start();
    });
    after(async () => {
      cluster?.transport.close();
      cluster?.stranger.close();
      await cluster?.close();
    });
    for (const { sentence, run } of behaviours)
      test(sentence, { timeout: 90_000 }, async ({ signal }) => {
        assert.ok(cluster);
        const options = { clock: systemClock, userAgent: 'tartan-test' };
        const client = createClient(cluster.transport, options);
        const stranger = createClient(cluster.stranger, options);
        const subresources = createSubresources(cluster.transport, options);
        const namespace = await createNamespace(client);
        try {
          await run({ client, stranger, subresources, namespace, signal });
        } finally {
          await client.delete(namespaces, { name: namespace });
        }
      });
  });
};
