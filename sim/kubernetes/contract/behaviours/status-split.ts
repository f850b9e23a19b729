import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const statusSplit = topic('status and spec', [
  behaviour('the main endpoint keeps the old status', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a'));
    await trial.edit(`${path}/a/status`, { status: { phase: 'Ready' } });
    const edited = await trial.edit(`${path}/a`, { spec: { size: 4 }, status: { phase: 'Broken' } });
    includes(edited, { spec: { size: 4 }, status: { phase: 'Ready' } });
  }),

  behaviour('/status of a custom resource changes neither spec nor metadata', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    const answer = await trial.put(`${path}/a/status`, {
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

  behaviour('GET of /status answers the whole object', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    const created = await trial.create(path, widget(apiVersion, 'a'));
    assert.deepEqual(await trial.fetch(`${path}/a/status`), created);
  }),

  behaviour('/status of a Pod leaves the spec alone but changes labels', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    const edited = await trial.edit(`${pods}/a/status`, {
      metadata: { labels: { x: 'y' } },
      spec: { activeDeadlineSeconds: 5 },
      status: { phase: 'Running' },
    });
    includes(edited, { status: { phase: 'Running' }, metadata: { labels: { x: 'y' } } });
    assert.equal(read(edited, 'spec.activeDeadlineSeconds'), undefined);
  }),

  behaviour('the main endpoint of a Pod ignores its status', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    const edited = await trial.edit(`${pods}/a`, { metadata: { labels: { x: 'y' } }, status: { phase: 'Running' } });
    includes(edited, { status: { phase: 'Pending' } });
  }),

  behaviour('a status of the wrong shape is refused by the schema', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a'));
    assert.equal((await trial.patch(`${path}/a/status`, 'merge', { status: { phase: 5 } })).code, 422);
  }),
]);
