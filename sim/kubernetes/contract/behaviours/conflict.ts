import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { widget, widgets } from '../widgets.ts';

const modified = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = topic('conflict', [
  behaviour('a PUT with a stale resource version is a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    await trial.edit(`${configMaps}/a`, { data: { x: '1' } });
    refused(await trial.put(`${configMaps}/a`, { ...created, data: { x: '2' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('a stale write to /status is a Conflict that names the group', async (trial) => {
    const { collection, apiVersion, group } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    await trial.edit(`${path}/a`, { spec: { size: 4 } });
    refused(await trial.put(`${path}/a/status`, { ...created, status: { phase: 'Ready' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on widgets.${group} "a": ${modified}`,
      details: { name: 'a', group, kind: 'widgets' },
    });
  }),

  behaviour('a resource version inside a merge patch is a precondition', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    const resourceVersion = created.metadata.resourceVersion;
    const edited = await trial.edit(`${configMaps}/a`, { metadata: { resourceVersion }, data: { x: '1' } });
    assert.deepEqual(edited.data, { x: '1' });
    refused(await trial.patch(`${configMaps}/a`, 'merge', { metadata: { resourceVersion }, data: { x: '2' } }), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
    });
  }),

  behaviour('a patch of the UID is invalid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    refused(await trial.patch(`${configMaps}/a`, 'merge', { metadata: { uid: 'other' }, data: { x: '1' } }), {
      code: 422,
      reason: 'Invalid',
      message: 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    });
  }),

  behaviour('a PUT with the UID of another object is a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    const answer = await trial.put(`${configMaps}/a`, { ...created, metadata: { ...created.metadata, uid: 'other' } });
    refused(answer, {
      code: 409,
      reason: 'Conflict',
      message: /Precondition failed: UID in precondition: other, UID in object meta: /,
    });
  }),

  behaviour('concurrent patches of different fields both succeed', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(keys.map((key) => trial.edit(`${configMaps}/a`, { data: { [key]: key } })));
    const { data } = await trial.fetch(`${configMaps}/a`);
    assert.deepEqual(data, Object.fromEntries(keys.map((key) => [key, key])));
  }),
]);

const when = (preconditions: Record<string, string>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions,
});

export const preconditions = topic('preconditions of a delete', [
  behaviour('a delete with another UID is a Conflict, and the object stays', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const { uid } = (await trial.create(configMaps, configMap('a'))).metadata;
    refused(await trial.delete(`${configMaps}/a`, when({ uid: 'other' })), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      details: { name: 'a', kind: 'ConfigMap' },
    });
    await trial.fetch(`${configMaps}/a`);
  }),

  behaviour('a delete with an old resource version is a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const { resourceVersion } = (await trial.create(configMaps, configMap('a'))).metadata;
    const edited = await trial.edit(`${configMaps}/a`, { data: { x: '1' } });
    refused(await trial.delete(`${configMaps}/a`, when({ resourceVersion })), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${edited.metadata.resourceVersion}). The object might have been modified`,
    });
  }),

  behaviour('a delete with matching preconditions succeeds', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const { uid, resourceVersion } = (await trial.create(configMaps, configMap('a'))).metadata;
    await trial.remove(`${configMaps}/a`, when({ uid, resourceVersion }));
    assert.equal((await trial.get(`${configMaps}/a`)).code, 404);
  }),
]);
