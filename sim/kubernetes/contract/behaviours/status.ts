import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { establish } from '../crds.ts';
import { includes } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const statusSplit = topic('status and spec', [
  behaviour('the main endpoint ignores changes of the status', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    await context.edit(`${path}/a/status`, { status: { phase: 'Ready' } });
    const edited = await context.edit(`${path}/a`, { spec: { size: 4 }, status: { phase: 'Broken' } });
    includes(edited, { spec: { size: 4 }, status: { phase: 'Ready' } });
  }),

  behaviour('/status of a custom resource changes neither spec nor metadata', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    const answer = await context.put(`${path}/a/status`, {
      ...created,
      metadata: { ...created.metadata, labels: { x: 'y' }, annotations: { x: 'y' }, finalizers: ['example.com/x'] },
      spec: { size: 9 },
      status: { phase: 'Ready' },
    });
    assert.equal(answer.code, 200);
    const written = objectIn(answer);
    assert.deepEqual(written.spec, created.spec);
    assert.deepEqual(written.status, { phase: 'Ready' });
    assert.equal(written.metadata.labels, undefined);
    assert.equal(written.metadata.annotations, undefined);
    assert.equal(written.metadata.finalizers, undefined);
  }),

  behaviour('a GET of /status returns the whole object', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    assert.deepEqual(await context.fetch(`${path}/a/status`), created);
  }),

  behaviour('/status of a Pod ignores the spec but changes labels', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const edited = await context.edit(`${pods}/a/status`, {
      metadata: { labels: { x: 'y' } },
      spec: { activeDeadlineSeconds: 5 },
      status: { phase: 'Running' },
    });
    includes(edited, { status: { phase: 'Running' }, metadata: { labels: { x: 'y' } } });
    assert.equal(read(edited, 'spec.activeDeadlineSeconds'), undefined);
  }),

  behaviour('the main endpoint of a Pod ignores its status', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const edited = await context.edit(`${pods}/a`, { metadata: { labels: { x: 'y' } }, status: { phase: 'Running' } });
    includes(edited, { status: { phase: 'Pending' } });
  }),

  behaviour('an invalid status is rejected by the schema', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    assert.equal((await context.patch(`${path}/a/status`, 'merge', { status: { phase: 5 } })).code, 422);
  }),
]);

export const generation = topic('generation', [
  behaviour('a change of the spec increases it, a change of labels does not', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    const relabelled = await context.edit(`${path}/a`, {
      metadata: { labels: { x: 'y' }, finalizers: ['example.com/x'] },
    });
    assert.equal(relabelled.metadata.generation, 1);
    const resized = await context.edit(`${path}/a`, { spec: { size: 4 }, metadata: { finalizers: null } });
    assert.equal(resized.metadata.generation, 2);
  }),

  behaviour('a write to /status does not increase it', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    const edited = await context.edit(`${path}/a/status`, { status: { phase: 'Ready' } });
    assert.equal(edited.metadata.generation, 1);
  }),

  behaviour('without a status subresource a change of status increases it', async (context) => {
    const { group } = await establish(context, {
      kind: 'Plain',
      plural: 'plains',
      version: { schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
    });
    const path = await context.collection('plains', `${group}/v1`);
    const created = await context.create(path, {
      apiVersion: `${group}/v1`,
      kind: 'Plain',
      metadata: { name: 'a' },
      status: { phase: 'One' },
    });
    assert.deepEqual(created.status, { phase: 'One' });
    const edited = await context.edit(`${path}/a`, { status: { phase: 'Two' } });
    assert.equal(edited.metadata.generation, 2);
    assert.equal((await context.get(`${path}/a/status`)).code, 404);
  }),

  behaviour('the start of a deletion increases it', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const body = widget(apiVersion, 'a');
    await context.create(path, { ...body, metadata: { name: 'a', finalizers: ['example.com/x'] } });
    await context.remove(`${path}/a`);
    const deleting = await context.fetch(`${path}/a`);
    assert.equal(deleting.metadata.generation, 2);
    await context.edit(`${path}/a`, { metadata: { finalizers: null } });
  }),

  behaviour('a Pod starts with generation 1, which increases with its spec', async (context) => {
    const pods = await readyForPods(context);
    const created = await context.create(pods, pod('a'));
    assert.equal(created.metadata.generation, 1);
    const relabelled = await context.edit(`${pods}/a`, { metadata: { labels: { x: 'y' } } });
    assert.equal(relabelled.metadata.generation, 1);
    const edited = await context.edit(`${pods}/a`, { spec: { activeDeadlineSeconds: 60 } });
    assert.equal(edited.metadata.generation, 2);
  }),
]);
