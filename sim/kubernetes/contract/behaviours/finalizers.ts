import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes, refused } from '../expect.ts';
import type { Trial } from '../trial.ts';

const held = (name: string, finalizers = ['example.com/hold']): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, finalizers },
});

const deleting = async (trial: Trial, finalizers?: string[]): Promise<{ path: string; object: KubeObject }> => {
  const configMaps = await trial.collection('configmaps');
  await trial.create(configMaps, held('a', finalizers));
  await trial.remove(`${configMaps}/a`);
  return { path: `${configMaps}/a`, object: await trial.fetch(`${configMaps}/a`) };
};

const letGo = { metadata: { finalizers: null } };

export const finalizers = topic('finalizers', [
  behaviour('delete of a held object marks it, and answers the object', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const created = await trial.create(configMaps, held('a'));
    const answer = await trial.delete(`${configMaps}/a`);
    assert.equal(answer.code, 200);
    includes(answer.json, {
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        uid: created.metadata.uid,
        deletionGracePeriodSeconds: 0,
        finalizers: ['example.com/hold'],
      },
    });
    const marked = objectIn(answer);
    assert.match(marked.metadata.deletionTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(await trial.fetch(`${configMaps}/a`), marked);
    await trial.edit(`${configMaps}/a`, letGo);
  }),

  behaviour('the write that takes the last finalizer answers the object, which is gone then', async (trial) => {
    const { path } = await deleting(trial);
    const last = await trial.edit(path, letGo);
    assert.equal(last.metadata.finalizers, undefined);
    assert.ok(last.metadata.deletionTimestamp);
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a PUT may take the last finalizer too', async (trial) => {
    const { path, object } = await deleting(trial);
    await trial.replace(path, { ...object, metadata: { ...object.metadata, finalizers: [] } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('with one of two finalizers gone the object stays', async (trial) => {
    const { path } = await deleting(trial, ['example.com/one', 'example.com/two']);
    const edited = await trial.edit(path, { metadata: { finalizers: ['example.com/two'] } });
    assert.deepEqual(edited.metadata.finalizers, ['example.com/two']);
    await trial.fetch(path);
    await trial.edit(path, letGo);
  }),

  behaviour('no finalizer can be added once deletion has begun', async (trial) => {
    const { path } = await deleting(trial);
    refused(await trial.patch(path, 'merge', { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
    });
    await trial.edit(path, letGo);
  }),

  behaviour('a second delete changes nothing', async (trial) => {
    const { path, object } = await deleting(trial);
    const answer = await trial.delete(path);
    assert.equal(answer.code, 200);
    assert.deepEqual(await trial.fetch(path), object);
    await trial.edit(path, letGo);
  }),

  behaviour('an object that is being deleted can still be edited', async (trial) => {
    const { path, object } = await deleting(trial);
    const edited = await trial.edit(path, { data: { x: '1' } });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    await trial.edit(path, letGo);
  }),

  behaviour('the deletion timestamp cannot be taken back', async (trial) => {
    const { path, object } = await deleting(trial);
    const edited = await trial.edit(path, { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    assert.equal(edited.metadata.deletionGracePeriodSeconds, 0);
    await trial.edit(path, letGo);
  }),

  behaviour('a name that is held cannot be created again', async (trial) => {
    const { path } = await deleting(trial);
    refused(await trial.post(path.slice(0, path.lastIndexOf('/')), held('a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: 'object is being deleted: configmaps "a" already exists',
    });
    await trial.edit(path, letGo);
  }),
]);
