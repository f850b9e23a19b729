import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const mergePatch = topic('merge patch', [
  behaviour('null deletes, the rest is merged', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a', { data: { x: '1', y: '2' } }));
    const edited = await trial.edit(`${configMaps}/a`, { data: { x: null, z: '3' } });
    assert.deepEqual(edited.data, { y: '2', z: '3' });
  }),

  behaviour('lists are replaced whole', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a', { ports: [{ number: 1, note: 'one' }, { number: 2 }] }));
    const edited = await trial.edit(`${path}/a`, { spec: { ports: [{ number: 1 }] } });
    assert.deepEqual(read(edited, 'spec.ports'), [{ number: 1 }]);
  }),

  behaviour('a patch that changes nothing keeps the resource version', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    assert.deepEqual(await trial.edit(`${path}/a`, { spec: { size: 3 } }), created);
    assert.deepEqual(await trial.edit(`${path}/a`, {}), created);
  }),

  behaviour('what does not exist cannot be patched', async (trial) => {
    refused(await trial.patch(`${await trial.collection('configmaps')}/a`, 'merge', {}), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
    });
  }),

  behaviour('the name cannot be patched', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    refused(await trial.patch(`${configMaps}/a`, 'merge', { metadata: { name: 'b' } }), {
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
  }),

  behaviour('a patch type that does not exist is an unsupported media type', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const answer = await trial.patch(
      `${configMaps}/a`,
      'merge',
      {},
      { headers: { 'content-type': 'application/json' } },
    );
    refused(answer, {
      code: 415,
      reason: 'UnsupportedMediaType',
      message: '415: Unsupported Media Type',
    });
  }),
]);
