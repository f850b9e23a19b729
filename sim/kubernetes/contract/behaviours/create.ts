import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const create = topic('create', [
  behaviour('a created object gets a uid, a timestamp in whole seconds and a resource version', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const answer = await trial.post(configMaps, configMap('a', { data: { key: 'value' } }));
    assert.equal(answer.code, 201);
    assert.equal(answer.headers['content-type'], 'application/json');
    includes(answer.json, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a', namespace: await trial.namespace() },
      data: { key: 'value' },
    });
    assert.match(String(read(answer.json, 'metadata.uid')), uuid);
    assert.match(String(read(answer.json, 'metadata.creationTimestamp')), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(String(read(answer.json, 'metadata.resourceVersion')), /^[1-9]\d*$/);
    assert.equal(read(answer.json, 'metadata.generation'), undefined);
    assert.deepEqual((await trial.get(`${configMaps}/a`)).json, answer.json);
  }),

  behaviour('what only the server may set is dropped from the body', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        uid: '00000000-0000-4000-8000-000000000000',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        generation: 7,
        selfLink: '/nowhere',
      },
    });
    assert.notEqual(created.metadata.uid, '00000000-0000-4000-8000-000000000000');
    assert.notEqual(created.metadata.creationTimestamp, '2001-01-01T00:00:00Z');
    assert.equal(created.metadata.deletionTimestamp, undefined);
    assert.equal(created.metadata.deletionGracePeriodSeconds, undefined);
    assert.equal(created.metadata.selfLink, undefined);
  }),

  behaviour('a body with a resource version is refused with 500', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '12' } };
    refused(await trial.post(configMaps, body), {
      code: 500,
      message: 'resourceVersion should not be set on objects to be created',
    });
  }),

  behaviour('apiVersion and kind may be left out of a built-in kind', async (trial) => {
    const created = await trial.create(await trial.collection('configmaps'), { metadata: { name: 'a' } });
    includes(created, { apiVersion: 'v1', kind: 'ConfigMap' });
  }),

  behaviour('another kind than that of the path is a bad request', async (trial) => {
    const answer = await trial.post(await trial.collection('configmaps'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
    });
    refused(answer, {
      code: 400,
      reason: 'BadRequest',
      message: /^Secret in version "v1" cannot be handled as a ConfigMap: /,
    });
  }),

  behaviour('another namespace than that of the path is a bad request', async (trial) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
    refused(await trial.post(await trial.collection('configmaps'), body), {
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  }),

  behaviour('an existing name is AlreadyExists, which is not a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    refused(await trial.post(configMaps, configMap('a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('AlreadyExists of a group other than core names the group', async (trial) => {
    const { collection, group, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a'));
    refused(await trial.post(path, widget(apiVersion, 'a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: `widgets.${group} "a" already exists`,
      details: { name: 'a', group, kind: 'widgets' },
    });
  }),

  behaviour('a custom resource starts with generation 1 and without the status of the body', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const created = await trial.create(await collection(), { ...widget(apiVersion, 'a'), status: { phase: 'Ready' } });
    assert.equal(created.metadata.generation, 1);
    assert.equal(created.status, undefined);
  }),
]);
