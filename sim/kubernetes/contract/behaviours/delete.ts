import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { configMap, secret } from '../objects.ts';
import { namesOf } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const deletion = topic('delete', [
  behaviour('an object without finalizers is gone at once, and the answer is a Success with its uid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, configMap('a'));
    const answer = await trial.delete(`${configMaps}/a`);
    assert.equal(answer.code, 200);
    assert.deepEqual(answer.json, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: created.metadata.uid },
    });
    assert.equal((await trial.get(`${configMaps}/a`)).code, 404);
  }),

  behaviour('the Success for a custom resource names its group', async (trial) => {
    const { collection, apiVersion, group } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    const answer = await trial.delete(`${path}/a`);
    includes(answer.json, {
      status: 'Success',
      details: { name: 'a', group, kind: 'widgets', uid: created.metadata.uid },
    });
  }),

  behaviour('what does not exist cannot be deleted', async (trial) => {
    refused(await trial.delete(`${await trial.collection('configmaps')}/a`), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('delete of a collection takes those that the selector names, and answers them as a list', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a', { go: 'yes' }));
    await trial.create(secrets, secret('b', { go: 'yes' }));
    await trial.create(secrets, secret('c', { go: 'no' }));
    const answer = await trial.delete(`${secrets}?labelSelector=go%3Dyes`);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'SecretList', apiVersion: 'v1' });
    assert.deepEqual(namesOf(answer.json), ['a', 'b']);
    const left = await trial.fetch(secrets);
    assert.deepEqual(namesOf(left), ['c']);
  }),

  behaviour('options may come in the query instead of the body', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const answer = await trial.delete(`${configMaps}/a?dryRun=All`);
    assert.equal(answer.code, 200);
    await trial.fetch(`${configMaps}/a`);
  }),

  behaviour('a name can be used again, by an object with another uid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const first = await trial.create(configMaps, configMap('a'));
    await trial.remove(`${configMaps}/a`);
    const second = await trial.create(configMaps, configMap('a'));
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion) + 1);
  }),

  behaviour('a propagation policy that does not exist is invalid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, configMap('a'));
    const answer = await trial.delete(`${configMaps}/a`, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Sideways',
    });
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    });
  }),
]);
