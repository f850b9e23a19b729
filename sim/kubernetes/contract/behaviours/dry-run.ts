import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const dryRun = topic('dry run', [
  behaviour('a create answers the object as it would be, and keeps nothing', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const answer = await trial.post(`${path}?dryRun=All`, widget(apiVersion, 'a'));
    assert.equal(answer.code, 201);
    assert.ok(read(answer.json, 'metadata.uid'));
    assert.equal(read(answer.json, 'metadata.resourceVersion'), undefined);
    assert.equal(read(answer.json, 'spec.mode'), 'slow');
    assert.equal((await trial.get(`${path}/a`)).code, 404);
  }),

  behaviour('an update answers the change with the old resource version', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    const would = await trial.edit(`${configMaps}/a?dryRun=All`, { data: { x: '1' } });
    assert.deepEqual(would.data, { x: '1' });
    assert.equal(would.metadata.resourceVersion, created.metadata.resourceVersion);
    assert.deepEqual(await trial.fetch(`${configMaps}/a`), created);
  }),

  behaviour('a delete deletes nothing', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    const answer = await trial.delete(`${configMaps}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] });
    assert.equal(answer.code, 200);
    assert.deepEqual(await trial.fetch(`${configMaps}/a`), created);
  }),

  behaviour('what would be refused is refused', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    refused(await trial.post(`${configMaps}?dryRun=All`, configMap('a')), { code: 409, reason: 'AlreadyExists' });
    const { collection, apiVersion } = await widgets(trial);
    refused(await trial.post(`${await collection()}?dryRun=All`, widget(apiVersion, 'a', { size: 99 })), {
      code: 422,
      reason: 'Invalid',
    });
  }),
]);
