import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes, refused } from '../expect.ts';
import { configMap, pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const namespaces = topic('namespaces', [
  behaviour('default, kube-system, kube-public and kube-node-lease exist from the start', async (context) => {
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      includes(await context.fetch(`/api/v1/namespaces/${name}`), { status: { phase: 'Active' } });
    }
  }),

  behaviour('a new namespace is Active, and has its name as a label and the finalizer kubernetes', async (context) => {
    const name = await context.namespace();
    includes(await context.fetch(`/api/v1/namespaces/${name}`), {
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }),

  behaviour('no object can be created in a missing namespace', async (context) => {
    const name = context.unique('missing');
    refused(await context.post(`/api/v1/namespaces/${name}/configmaps`, configMap('a')), {
      code: 404,
      reason: 'NotFound',
      message: `namespaces "${name}" not found`,
      details: { name, kind: 'namespaces' },
    });
  }),

  behaviour('a namespace being deleted is Terminating and accepts no new objects', async (context) => {
    const namespace = await context.namespace();
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    });
    const answer = await context.delete(`/api/v1/namespaces/${namespace}`);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Namespace', status: { phase: 'Terminating' } });
    assert.ok(objectIn(answer).metadata.deletionTimestamp);
    refused(await context.post(configMaps, configMap('late')), {
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      details: {
        name: 'late',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    });
    await context.edit(`${configMaps}/held`, { metadata: { finalizers: null } });
  }),

  behaviour('its deletion deletes its objects, custom resources included, and then the namespace', async (context) => {
    const namespace = await context.namespace();
    const { collection, apiVersion } = await widgets(context);
    const pods = await readyForPods(context);
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    await context.create(pods, pod('a'));
    await context.create(await collection(), widget(apiVersion, 'a'));
    await context.remove(`/api/v1/namespaces/${namespace}`);
    await context.waitFor(`/api/v1/namespaces/${namespace}`, (object) => object === undefined);
    for (const path of [secrets, pods, await collection()]) {
      includes(await context.fetch(path), { items: [] });
    }
  }),

  behaviour('default and kube-system cannot be deleted', async (context) => {
    for (const name of ['default', 'kube-system', 'kube-public']) {
      refused(await context.delete(`/api/v1/namespaces/${name}`), {
        code: 403,
        reason: 'Forbidden',
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      });
    }
  }),

  behaviour('a spec finalizer keeps a namespace until /finalize removes it', async (context) => {
    const namespace = await context.namespace();
    const path = `/api/v1/namespaces/${namespace}`;
    const object = await context.fetch(path);
    const held = { ...object, spec: { finalizers: ['kubernetes', 'example.com/hold'] } };
    const finalized = await context.put(`${path}/finalize`, held);
    assert.equal(finalized.code, 200);
    await context.remove(path);
    const emptied = await context.waitFor(path, (each) => readList(each, 'spec.finalizers').length === 1);
    assert.deepEqual(emptied?.spec, { finalizers: ['example.com/hold'] });
    await context.put(`${path}/finalize`, { ...emptied, spec: {} });
    await context.waitFor(path, (each) => each === undefined);
  }),
]);
