import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { widget, widgets } from '../widgets.ts';

const modified = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = topic('conflict', [
  behaviour('a PUT with a stale resource version is a Conflict', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a'));
    await context.edit(`${configMaps}/a`, { data: { x: '1' } });
    refused(await context.put(`${configMaps}/a`, { ...created, data: { x: '2' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('a stale write to /status is a Conflict that names the group', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    await context.edit(`${path}/a`, { spec: { size: 4 } });
    refused(await context.put(`${path}/a/status`, { ...created, status: { phase: 'Ready' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on widgets.${group} "a": ${modified}`,
      details: { name: 'a', group, kind: 'widgets' },
    });
  }),

  behaviour('a resource version inside a merge patch is a precondition', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a'));
    const resourceVersion = created.metadata.resourceVersion;
    const edited = await context.edit(`${configMaps}/a`, { metadata: { resourceVersion }, data: { x: '1' } });
    assert.deepEqual(edited.data, { x: '1' });
    refused(await context.patch(`${configMaps}/a`, 'merge', { metadata: { resourceVersion }, data: { x: '2' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    });
  }),

  behaviour('a patch of the UID is invalid', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.patch(`${configMaps}/a`, 'merge', { metadata: { uid: 'other' }, data: { x: '1' } }), {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    });
  }),

  behaviour('a PUT with the UID of another object is a Conflict', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a'));
    const answer = await context.put(`${configMaps}/a`, {
      ...created,
      metadata: { ...created.metadata, uid: 'other' },
    });
    refused(answer, {
      code: 409,
      reason: 'Conflict',
      message: /Precondition failed: UID in precondition: other, UID in object meta: /,
    });
  }),

  behaviour('concurrent patches of different fields both succeed', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(keys.map((key) => context.edit(`${configMaps}/a`, { data: { [key]: key } })));
    const { data } = await context.fetch(`${configMaps}/a`);
    assert.deepEqual(data, Object.fromEntries(keys.map((key) => [key, key])));
  }),
]);

const when = (preconditions: Record<string, string>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions,
});

export const preconditions = topic('preconditions of a delete', [
  behaviour('a delete with another UID is a Conflict, and the object stays', async (context) => {
    const configMaps = await context.collection('configmaps');
    const { uid } = (await context.create(configMaps, configMap('a'))).metadata;
    refused(await context.delete(`${configMaps}/a`, when({ uid: 'other' })), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      details: { name: 'a', kind: 'ConfigMap' },
    });
    await context.fetch(`${configMaps}/a`);
  }),

  behaviour('a delete with an old resource version is a Conflict', async (context) => {
    const configMaps = await context.collection('configmaps');
    const { resourceVersion } = (await context.create(configMaps, configMap('a'))).metadata;
    const edited = await context.edit(`${configMaps}/a`, { data: { x: '1' } });
    refused(await context.delete(`${configMaps}/a`, when({ resourceVersion })), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${edited.metadata.resourceVersion}). The object might have been modified`,
    });
  }),

  behaviour('a delete with matching preconditions succeeds', async (context) => {
    const configMaps = await context.collection('configmaps');
    const { uid, resourceVersion } = (await context.create(configMaps, configMap('a'))).metadata;
    await context.remove(`${configMaps}/a`, when({ uid, resourceVersion }));
    assert.equal((await context.get(`${configMaps}/a`)).code, 404);
  }),
]);
