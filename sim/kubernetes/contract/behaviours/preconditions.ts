import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';

const when = (preconditions: Record<string, string>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  preconditions,
});

export const preconditions = topic('preconditions of a delete', [
  behaviour('a delete for another uid is a Conflict, and the object stays', async (trial) => {
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

  behaviour('a delete for an old resource version is a Conflict', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const { resourceVersion } = (await trial.create(configMaps, configMap('a'))).metadata;
    const edited = await trial.edit(`${configMaps}/a`, { data: { x: '1' } });
    refused(await trial.delete(`${configMaps}/a`, when({ resourceVersion })), {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${edited.metadata.resourceVersion}). The object might have been modified`,
    });
  }),

  behaviour('a delete whose preconditions hold goes through', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const { uid, resourceVersion } = (await trial.create(configMaps, configMap('a'))).metadata;
    await trial.remove(`${configMaps}/a`, when({ uid, resourceVersion }));
    assert.equal((await trial.get(`${configMaps}/a`)).code, 404);
  }),
]);
