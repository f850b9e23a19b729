import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes, refused } from '../expect.ts';
import { configMap, pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { namesOf } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';
import { widget, widgets } from '../widgets.ts';

export const deletion = topic('delete', [
  behaviour(
    'an object without finalizers is deleted at once, and the response is a Success with its UID',
    async (context) => {
      const configMaps = await context.collection('configmaps');
      const created = await context.create(configMaps, configMap('a'));
      const answer = await context.delete(`${configMaps}/a`);
      assert.equal(answer.code, 200);
      assert.deepEqual(answer.json, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: created.metadata.uid },
      });
      assert.equal((await context.get(`${configMaps}/a`)).code, 404);
    },
  ),

  behaviour('the Success for a custom resource names its group', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    const answer = await context.delete(`${path}/a`);
    includes(answer.json, {
      status: 'Success',
      details: { name: 'a', group, kind: 'widgets', uid: created.metadata.uid },
    });
  }),

  behaviour('a delete of a missing object is NotFound', async (context) => {
    refused(await context.delete(`${await context.collection('configmaps')}/a`), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
      details: { name: 'a', kind: 'configmaps' },
    });
  }),

  behaviour('a delete of a collection deletes the selected objects, and returns them as a list', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a', { go: 'yes' }));
    await context.create(secrets, secret('b', { go: 'yes' }));
    await context.create(secrets, secret('c', { go: 'no' }));
    const answer = await context.delete(`${secrets}?labelSelector=go%3Dyes`);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'SecretList', apiVersion: 'v1' });
    assert.deepEqual(namesOf(answer.json), ['a', 'b']);
    const left = await context.fetch(secrets);
    assert.deepEqual(namesOf(left), ['c']);
  }),

  behaviour('options may come in the query instead of the body', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const answer = await context.delete(`${configMaps}/a?dryRun=All`);
    assert.equal(answer.code, 200);
    await context.fetch(`${configMaps}/a`);
  }),

  behaviour('a name can be used again by an object with another UID', async (context) => {
    const configMaps = await context.collection('configmaps');
    const first = await context.create(configMaps, configMap('a'));
    await context.remove(`${configMaps}/a`);
    const second = await context.create(configMaps, configMap('a'));
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion) + 1);
  }),

  behaviour('an unknown propagation policy is invalid', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const answer = await context.delete(`${configMaps}/a`, {
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

const deleting = async (
  context: BehaviourContext,
  finalizers?: string[],
): Promise<{ path: string; object: KubeObject }> => {
  const configMaps = await context.collection('configmaps');
  await context.create(configMaps, held('a', finalizers));
  await context.remove(`${configMaps}/a`);
  return { path: `${configMaps}/a`, object: await context.fetch(`${configMaps}/a`) };
};

const withoutFinalizers = { metadata: { finalizers: null } };

export const finalizers = topic('finalizers', [
  behaviour(
    'a delete of an object with a finalizer sets the deletion timestamp, and returns the object',
    async (context) => {
      const configMaps = await context.collection('configmaps');
      const created = await context.create(configMaps, held('a'));
      const answer = await context.delete(`${configMaps}/a`);
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
      assert.deepEqual(await context.fetch(`${configMaps}/a`), marked);
      await context.edit(`${configMaps}/a`, withoutFinalizers);
    },
  ),

  behaviour('the write that removes the last finalizer returns the object, which is then deleted', async (context) => {
    const { path } = await deleting(context);
    const last = await context.edit(path, withoutFinalizers);
    assert.equal(last.metadata.finalizers, undefined);
    assert.ok(last.metadata.deletionTimestamp);
    assert.equal((await context.get(path)).code, 404);
  }),

  behaviour('a PUT may remove the last finalizer too', async (context) => {
    const { path, object } = await deleting(context);
    await context.replace(path, { ...object, metadata: { ...object.metadata, finalizers: [] } });
    assert.equal((await context.get(path)).code, 404);
  }),

  behaviour('an object with two finalizers stays when one is removed', async (context) => {
    const { path } = await deleting(context, ['example.com/one', 'example.com/two']);
    const edited = await context.edit(path, { metadata: { finalizers: ['example.com/two'] } });
    assert.deepEqual(edited.metadata.finalizers, ['example.com/two']);
    await context.fetch(path);
    await context.edit(path, withoutFinalizers);
  }),

  behaviour('no finalizer can be added after deletion has begun', async (context) => {
    const { path } = await deleting(context);
    refused(
      await context.patch(path, 'merge', { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } }),
      {
        code: 422,
        reason: 'Invalid',
        message:
          'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
      },
    );
    await context.edit(path, withoutFinalizers);
  }),

  behaviour('a second delete changes nothing', async (context) => {
    const { path, object } = await deleting(context);
    const answer = await context.delete(path);
    assert.equal(answer.code, 200);
    assert.deepEqual(await context.fetch(path), object);
    await context.edit(path, withoutFinalizers);
  }),

  behaviour('an object being deleted can still be changed', async (context) => {
    const { path, object } = await deleting(context);
    const edited = await context.edit(path, { data: { x: '1' } });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    await context.edit(path, withoutFinalizers);
  }),

  behaviour('the deletion timestamp cannot be removed', async (context) => {
    const { path, object } = await deleting(context);
    const edited = await context.edit(path, {
      metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null },
    });
    assert.equal(edited.metadata.deletionTimestamp, object.metadata.deletionTimestamp);
    assert.equal(edited.metadata.deletionGracePeriodSeconds, 0);
    await context.edit(path, withoutFinalizers);
  }),

  behaviour('the name of an object with a finalizer cannot be created again', async (context) => {
    const { path } = await deleting(context);
    refused(await context.post(path.slice(0, path.lastIndexOf('/')), held('a')), {
      code: 409,
      reason: 'AlreadyExists',
      message: 'object is being deleted: configmaps "a" already exists',
    });
    await context.edit(path, withoutFinalizers);
  }),
]);

const secondsUntil = (object: KubeObject): number =>
  (Date.parse(object.metadata.deletionTimestamp ?? '') - Date.parse(object.metadata.creationTimestamp)) / 1000;

/** A Pod bound to a node: only such Pods have a grace period. */
const running = async (context: BehaviourContext, spec: Record<string, unknown> = {}): Promise<string> => {
  const pods = await readyForPods(context);
  // Tolerates everything, so that no controller evicts it although its node does not exist.
  await context.create(
    pods,
    pod('a', { nodeName: context.unique('ghost'), tolerations: [{ operator: 'Exists' }], ...spec }),
  );
  return `${pods}/a`;
};

const options = (fields: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...fields,
});

export const grace = topic('grace period', [
  behaviour('a Pod on a node gets its own grace period, and a deletion timestamp in the future', async (context) => {
    const path = await running(context);
    const answer = await context.delete(path);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } });
    assert.ok(secondsUntil(objectIn(answer)) >= 30);
    await context.fetch(path);
  }),

  behaviour('the grace period of the request wins over that of the Pod', async (context) => {
    const path = await running(context, { terminationGracePeriodSeconds: 300 });
    const answer = await context.delete(path, options({ gracePeriodSeconds: 7 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 7 } });
  }),

  behaviour('a grace period may be shortened but not lengthened', async (context) => {
    const path = await running(context);
    await context.remove(path, options({ gracePeriodSeconds: 100 }));
    await context.remove(path, options({ gracePeriodSeconds: 200 }));
    includes(await context.fetch(path), { metadata: { deletionGracePeriodSeconds: 100 } });
    await context.remove(path, options({ gracePeriodSeconds: 50 }));
    includes(await context.fetch(path), { metadata: { deletionGracePeriodSeconds: 50 } });
  }),

  behaviour('grace period 0 deletes the Pod at once, and returns it', async (context) => {
    const path = await running(context);
    await context.remove(path);
    const answer = await context.delete(path, options({ gracePeriodSeconds: 0 }));
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { name: 'a' } });
    assert.equal((await context.get(path)).code, 404);
  }),

  behaviour('a negative grace period is one second', async (context) => {
    const path = await running(context);
    const answer = await context.delete(path, options({ gracePeriodSeconds: -5 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 1 } });
  }),

  behaviour('a Pod without a node is deleted at once', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    await context.remove(`${pods}/a`);
    assert.equal((await context.get(`${pods}/a`)).code, 404);
  }),

  behaviour('a finished Pod is deleted at once', async (context) => {
    const path = await running(context);
    await context.edit(`${path}/status`, { status: { phase: 'Succeeded' } });
    await context.remove(path);
    assert.equal((await context.get(path)).code, 404);
  }),

  behaviour('a Pod with a finalizer exists beyond its grace period', async (context) => {
    const path = await running(context);
    await context.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await context.remove(path, options({ gracePeriodSeconds: 0 }));
    includes(await context.fetch(path), {
      metadata: { deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] },
    });
    await context.edit(path, { metadata: { finalizers: null } });
    assert.equal((await context.get(path)).code, 404);
  }),

  behaviour('a Pod in its grace period is not deleted by an update', async (context) => {
    const path = await running(context);
    await context.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await context.remove(path);
    await context.edit(path, { metadata: { finalizers: null } });
    await context.fetch(path);
  }),
]);
