import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const jsonPatch = topic('JSON patch', [
  behaviour('add, replace and remove apply in order', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a', { data: { x: '1', y: '2' } }));
    const answer = await trial.patch(`${configMaps}/a`, 'json', [
      { op: 'add', path: '/data/z', value: '3' },
      { op: 'replace', path: '/data/x', value: '4' },
      { op: 'remove', path: '/data/y' },
    ]);
    assert.equal(answer.code, 200);
    assert.deepEqual(read(answer.json, 'data'), { x: '4', z: '3' });
  }),

  behaviour('~1 and ~0 in a path stand for / and ~', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', annotations: { q: '' } },
    });
    const answer = await trial.patch(`${configMaps}/a`, 'json', [
      { op: 'add', path: '/metadata/annotations/example.com~1x', value: 'y' },
    ]);
    assert.deepEqual(read(answer.json, 'metadata.annotations'), {
      q: '',
      'example.com/x': 'y',
    });
  }),

  behaviour('a test that fails leaves the object alone', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a', { data: { x: '1' } }));
    const answer = await trial.patch(`${configMaps}/a`, 'json', [
      { op: 'replace', path: '/data/x', value: '2' },
      { op: 'test', path: '/data/x', value: '3' },
    ]);
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
    assert.deepEqual(await trial.fetch(`${configMaps}/a`), created);
  }),

  behaviour('a path that is not there is invalid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const answer = await trial.patch(`${configMaps}/a`, 'json', [{ op: 'remove', path: '/data/x' }]);
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  }),

  behaviour('a patch that is no list is a bad request', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const answer = await trial.patch(`${configMaps}/a`, 'json', { data: { x: '1' } });
    refused(answer, { code: 400, reason: 'BadRequest' });
  }),

  behaviour('lists of a custom resource are addressed by index and by -', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a', { tags: ['one', 'two'] }));
    const answer = await trial.patch(`${path}/a`, 'json', [
      { op: 'remove', path: '/spec/tags/0' },
      { op: 'add', path: '/spec/tags/-', value: 'three' },
    ]);
    assert.deepEqual(read(answer.json, 'spec.tags'), ['two', 'three']);
  }),
]);
