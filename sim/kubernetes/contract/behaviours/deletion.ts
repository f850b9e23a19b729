import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes, refused } from '../expect.ts';
import { configMap, pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { namesOf } from '../read.ts';
import type { Trial } from '../trial.ts';
import { widget, widgets } from '../widgets.ts';

export const deletion = topic('delete', [
  behaviour(
    'an object without finalizers is deleted at once, and the response is a Success with its UID',
    async (trial) => {
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
    },
  ),

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

  behaviour('a delete of a missing object is NotFound', async (trial) => {
    refused(await trial.delete(`${await trial.collection('configmaps')}/a`), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('a delete of a collection deletes the selected objects, and returns them as a list', async (trial) => {
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

  behaviour('a name can be used again by an object with another UID', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const first = await trial.create(configMaps, configMap('a'));
    await trial.remove(`${configMaps}/a`);
    const second = await trial.create(configMaps, configMap('a'));
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion) + 1);
  }),

  behaviour('an unknown propagation policy is invalid', async (trial) => {
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

const withoutFinalizers = { metadata: { finalizers: null } };

export const finalizers = topic('finalizers', [
  behaviour(
    'a delete of an object with a finalizer sets the deletion timestamp, and returns the object',
    async (trial) => {
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
      await trial.edit(`${configMaps}/a`, withoutFinalizers);
    },
  ),

  behaviour('the write that removes the last finalizer returns the object, which is then deleted', async (trial) => {
    const { path } = await deleting(trial);
    const last = await trial.edit(path, withoutFinalizers);
    assert.equal(last.metadata.finalizers, undefined);
    assert.ok(last.metadata.deletionTimestamp);
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a PUT may remove the last finalizer too', async (trial) => {
    const { path, object } = await deleting(trial);
    await trial.replace(path, { ...object, metadata: { ...object.metadata, finalizers: [] } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('an object with two finalizers stays when one is removed', async (trial) => {
    const { path } = await deleting(trial, ['example.com/one', 'example.com/two']);
    const edited = await trial.edit(path, { metadata: { finalizers: ['example.com/two'] } });
    assert.deepEqual(edited.metadata.finalizers, ['example.com/two']);
    await trial.fetch(path);
    await trial.edit(path, withoutFinalizers);
  }),

  behaviour('no finalizer can be added after deletion has begun', async (trial) => {
    const { path } = await deleting(trial);
    refused(await trial.patch(path, 'merge', { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
    });
    await trial.edit(path, withoutFinalizers);
  }),

  behaviour('a second delete changes nothing', async (trial) => {
    const { path, object } = await deleting(trial);
    const answer = await trial.delete(path);
    assert.equal(answer.code, 200);
    assert.deepEqual(await trial.fetch(path), object);
    await trial.edit(path, withoutFinalizers);
  }),

  behaviour('an object being deleted can still be changed', async (trial) => {
    const { path, object } = await deleting(trial);
    const edited = await trial.edit(path, { data: { x: '1' } });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    await trial.edit(path, withoutFinalizers);
  }),

  behaviour('the deletion timestamp cannot be removed', async (trial) => {
    const { path, object } = await deleting(trial);
    const edited = await trial.edit(path, { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    assert.equal(edited.metadata.deletionGracePeriodSeconds, 0);
    await trial.edit(path, withoutFinalizers);
  }),

  behaviour('the name of an object with a finalizer cannot be created again', async (trial) => {
    const { path } = await deleting(trial);
    refused(await trial.post(path.slice(0, path.lastIndexOf('/')), held('a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: 'object is being deleted: configmaps "a" already exists',
    });
    await trial.edit(path, withoutFinalizers);
  }),
]);

const secondsUntil = (object: KubeObject): number =>
  (Date.parse(object.metadata.deletionTimestamp ?? '') - Date.parse(object.metadata.creationTimestamp)) / 1000;

/** A Pod bound to a node: only such Pods have a grace period. */
const running = async (trial: Trial, spec: Record<string, unknown> = {}): Promise<string> => {
  const pods = await readyForPods(trial);
  // Tolerates everything, so that no controller evicts it although its node does not exist.
  await trial.create(
    pods,
    pod('a', { nodeName: trial.unique('ghost'), tolerations: [{ operator: 'Exists' }], ...spec }),
  );
  return `${pods}/a`;
};

const options = (fields: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...fields,
});

export const grace = topic('grace period', [
  behaviour('a Pod on a node gets its own grace period, and a deletion timestamp in the future', async (trial) => {
    const path = await running(trial);
    const answer = await trial.delete(path);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } });
    assert.ok(secondsUntil(objectIn(answer)) >= 30);
    await trial.fetch(path);
  }),

  behaviour('the grace period of the request wins over that of the Pod', async (trial) => {
    const path = await running(trial, { terminationGracePeriodSeconds: 300 });
    const answer = await trial.delete(path, options({ gracePeriodSeconds: 7 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 7 } });
  }),

  behaviour('a grace period may be shortened but not lengthened', async (trial) => {
    const path = await running(trial);
    await trial.remove(path, options({ gracePeriodSeconds: 100 }));
    await trial.remove(path, options({ gracePeriodSeconds: 200 }));
    includes(await trial.fetch(path), { metadata: { deletionGracePeriodSeconds: 100 } });
    await trial.remove(path, options({ gracePeriodSeconds: 50 }));
    includes(await trial.fetch(path), { metadata: { deletionGracePeriodSeconds: 50 } });
  }),

  behaviour('grace period 0 deletes the Pod at once, and returns it', async (trial) => {
    const path = await running(trial);
    await trial.remove(path);
    const answer = await trial.delete(path, options({ gracePeriodSeconds: 0 }));
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { name: 'a' } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a negative grace period is one second', async (trial) => {
    const path = await running(trial);
    const answer = await trial.delete(path, options({ gracePeriodSeconds: -5 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 1 } });
  }),

  behaviour('a Pod without a node is deleted at once', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    await trial.remove(`${pods}/a`);
    assert.equal((await trial.get(`${pods}/a`)).code, 404);
  }),

  behaviour('a finished Pod is deleted at once', async (trial) => {
    const path = await running(trial);
    await trial.edit(`${path}/status`, { status: { phase: 'Succeeded' } });
    await trial.remove(path);
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a Pod with a finalizer exists beyond its grace period', async (trial) => {
    const path = await running(trial);
    await trial.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await trial.remove(path, options({ gracePeriodSeconds: 0 }));
    includes(await trial.fetch(path), {
      metadata: { deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] },
    });
    await trial.edit(path, { metadata: { finalizers: null } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a Pod in its grace period is not deleted by an update', async (trial) => {
    const path = await running(trial);
    await trial.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await trial.remove(path);
    await trial.edit(path, { metadata: { finalizers: null } });
    await trial.fetch(path);
  }),
]);
