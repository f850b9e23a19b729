import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const update = topic('update', [
  behaviour('PUT replaces the whole object', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a', { data: { x: '1', y: '2' } }));
    const answer = await context.put(`${configMaps}/a`, { ...created, data: { x: '3' } });
    assert.equal(answer.code, 200);
    assert.deepEqual(read(answer.json, 'data'), { x: '3' });
    assert.notEqual(read(answer.json, 'metadata.resourceVersion'), created.metadata.resourceVersion);
  }),

  behaviour('a PUT to a missing name is NotFound', async (context) => {
    refused(await context.put(`${await context.collection('configmaps')}/a`, configMap('a')), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('a PUT with another name than that of the path is a bad request', async (context) => {
    refused(await context.put(`${await context.collection('configmaps')}/a`, configMap('b')), {
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
  }),

  behaviour('a PUT without a resource version overwrites a ConfigMap', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const replaced = await context.replace(`${configMaps}/a`, configMap('a', { data: { x: '1' } }));
    includes(replaced, { data: { x: '1' } });
  }),

  behaviour('a PUT without a resource version is invalid for a custom resource', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    refused(await context.put(`${path}/a`, widget(apiVersion, 'a')), {
      code: 422,
      reason: 'Invalid',
      message: `widgets.${group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      details: {
        name: 'a',
        group,
        kind: 'widgets',
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: 0: must be specified for an update',
            field: 'metadata.resourceVersion',
          },
        ],
      },
    });
  }),

  behaviour(
    'a PUT without a resource version is invalid for a Lease, and creates one with a new name',
    async (context) => {
      const leases = await context.collection('leases', 'coordination.k8s.io/v1');
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'a' },
        spec: { holderIdentity: 'me' },
      };
      const first = await context.put(`${leases}/a`, body);
      assert.equal(first.code, 201);
      refused(await context.put(`${leases}/a`, body), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
      });
    },
  ),

  behaviour('creationTimestamp, uid and generation of the body are ignored', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    const replaced = await context.replace(`${path}/a`, {
      ...created,
      metadata: { ...created.metadata, creationTimestamp: '2001-01-01T00:00:00Z', generation: 99 },
    });
    assert.deepEqual(replaced.metadata, created.metadata);
  }),

  behaviour('a PUT that changes nothing keeps the resource version', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a', { data: { x: '1' } }));
    const replaced = await context.replace(`${configMaps}/a`, created);
    assert.equal(replaced.metadata.resourceVersion, created.metadata.resourceVersion);
  }),

  behaviour('an immutable ConfigMap rejects new data and cannot become mutable', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a', { data: { x: '1' }, immutable: true }));
    refused(await context.put(`${configMaps}/a`, { ...created, data: { x: '2' } }), {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    });
    refused(await context.patch(`${configMaps}/a`, 'merge', { immutable: false }), {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "a" is invalid: immutable: Forbidden: field is immutable when `immutable` is set',
    });
    await context.edit(`${configMaps}/a`, { metadata: { labels: { still: 'possible' } } });
  }),

  behaviour('an immutable Secret rejects new data', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      data: { x: 'MQ==' },
      immutable: true,
    });
    refused(await context.patch(`${secrets}/a`, 'merge', { data: { x: 'Mg==' } }), {
      code: 422,
      reason: 'Invalid',
      message: 'Secret "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    });
  }),

  behaviour('the type of a Secret is immutable', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } });
    assert.equal(created.type, 'Opaque');
    refused(await context.patch(`${secrets}/a`, 'merge', { type: 'example.com/other' }), {
      code: 422,
      reason: 'Invalid',
      message: 'Secret "a" is invalid: type: Invalid value: "example.com/other": field is immutable',
    });
  }),

  behaviour('stringData of a Secret is written to data, and never returned', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      data: { x: 'MQ==', y: 'MQ==' },
      stringData: { y: 'two' },
    });
    assert.deepEqual(created.data, { x: 'MQ==', y: 'dHdv' });
    assert.equal(created.stringData, undefined);
  }),
]);
