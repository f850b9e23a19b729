import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { read, readKey } from '../read.ts';
import {
  conditionOf,
  deployment,
  image,
  imageOf,
  isDone,
  isReady,
  listObjects,
  makeReady,
  runFakeKubelet,
  waitForPods,
  revision,
  waitForRollout,
  waitForReplicaSets,
  sizes,
  template,
  workloadPaths,
} from '../workloads.ts';

export const rollouts = topic('rollouts', [
  behaviour('a new template is rolled out a few Pods at a time', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    await context.create(path, deployment('a', { replicas: 4, strategy }));
    await runFakeKubelet(context, pods);
    await waitForRollout(context, `${path}/a`);
    const events = await context.watch(`${path}?fieldSelector=metadata.name%3Da`);
    await context.edit(`${path}/a`, image('mac:2'));
    const seen = await events.until(({ object }) => object.metadata.generation === 2 && isDone(object));
    for (const { object } of seen.slice(1)) {
      assert.ok(Number(read(object, 'status.replicas')) <= 5, 'no more than one beyond');
      assert.ok(Number(read(object, 'status.availableReplicas')) >= 3, 'no more than one missing');
    }
    const all = await listObjects(context, sets);
    assert.equal(sizes(all), 'mac:1 0, mac:2 4');
    assert.deepEqual(all.map((set) => `${String(imageOf(set))} is ${String(revision(set))}`).sort(), [
      'mac:1 is 1',
      'mac:2 is 2',
    ]);
    assert.equal(revision(await context.fetch(`${path}/a`)), '2');
  }),

  behaviour('a rollout stops while its new Pods are not available', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
    await context.create(path, deployment('a', { replicas: 3, strategy }));
    for (const { metadata } of await waitForPods(context, pods, ({ length }) => length === 3))
      await makeReady(context, pods, metadata.name);
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, image('mac:2'));
    const living = await waitForPods(
      context,
      pods,
      (all) => all.length === 3 && all.some((each) => read(each, 'spec.containers.0.image') === 'mac:2'),
    );
    assert.equal(living.filter(isReady).length, 2);
    await context.waitFor(`${path}/a`, (object) => read(object, 'status.updatedReplicas') === 1);
    assert.equal(sizes(await listObjects(context, sets)), 'mac:1 2, mac:2 1');
  }),

  behaviour('Recreate deletes the last old Pod before it creates the first new one', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    // Pods that are bound to a node stay until their kubelet has ended them.
    const spec = { strategy: { type: 'Recreate' }, template: template({ nodeName: context.unique('node') }) };
    await context.create(path, deployment('a', spec));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 1);
    await makeReady(context, pods, first?.metadata.name ?? '');
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, image('mac:2'));
    const at = `${pods}/${first?.metadata.name}`;
    await context.waitFor(at, (object) => object?.metadata.deletionTimestamp !== undefined);
    await context.waitFor(`${path}/a`, (object) => read(object, 'status.observedGeneration') === 2);
    assert.equal((await listObjects(context, sets)).length, 1);
    await context.delete(`${at}?gracePeriodSeconds=0`);
    const [second] = await waitForPods(context, pods, ({ length }) => length === 1);
    assert.equal(read(second, 'spec.containers.0.image'), 'mac:2');
  }),

  behaviour('while paused, a new template waits, but new replicas do not', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    await context.create(path, deployment('a'));
    await runFakeKubelet(context, pods);
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, { spec: { paused: true } });
    const paused = await context.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'reason') === 'DeploymentPaused',
    );
    includes(conditionOf(paused, 'Progressing'), { status: 'Unknown', message: 'Deployment is paused' });
    await context.edit(`${path}/a`, { ...image('mac:2') });
    await context.edit(`${path}/a`, { spec: { replicas: 2 } });
    await context.waitFor(`${path}/a`, (object) => read(object, 'status.availableReplicas') === 2);
    const [only, ...more] = await listObjects(context, sets);
    assert.deepEqual([more.length, imageOf(only), read(only, 'spec.replicas')], [0, 'mac:1', 2]);
    await context.edit(`${path}/a`, { spec: { paused: null } });
    await waitForRollout(context, `${path}/a`);
    assert.equal(revision(await context.fetch(`${path}/a`)), '2');
  }),

  behaviour('an old template reuses its ReplicaSet, as the newest revision', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    await context.create(path, deployment('a'));
    await runFakeKubelet(context, pods);
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, image('mac:2'));
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, image('mac:1'));
    await context.waitFor(`${path}/a`, (object) => revision(object) === '3' && isDone(object));
    const all = await listObjects(context, sets);
    assert.equal(all.length, 2);
    const back = all.find((set) => imageOf(set) === 'mac:1');
    assert.equal(revision(back), '3');
    const history = readKey(back?.metadata.annotations, 'deployment.kubernetes.io/revision-history');
    assert.equal(history, '1');
  }),

  behaviour('old revisions beyond the limit are deleted', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    await context.create(path, deployment('a', { revisionHistoryLimit: 1 }));
    await runFakeKubelet(context, pods);
    await waitForRollout(context, `${path}/a`);
    for (const name of ['mac:2', 'mac:3']) {
      await context.edit(`${path}/a`, image(name));
      await context.waitFor(`${path}/a`, (object) => imageOf(object) === name && isDone(object));
    }
    const left = await waitForReplicaSets(context, sets, ({ length }) => length === 2);
    assert.deepEqual(left.map((set) => String(revision(set))).sort(), ['2', '3']);
  }),

  behaviour('a missed progress deadline is a condition, and progress clears it', async (context) => {
    const { deployments: path, pods } = await workloadPaths(context);
    await context.create(path, deployment('a', { progressDeadlineSeconds: 1 }));
    const late = await context.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'status') === 'False',
    );
    includes(conditionOf(late, 'Progressing'), { reason: 'ProgressDeadlineExceeded' });
    assert.match(
      String(read(conditionOf(late, 'Progressing'), 'message')),
      /^ReplicaSet "a-[^"]+" has timed out progressing\.$/,
    );
    const [only] = await waitForPods(context, pods, ({ length }) => length === 1);
    await makeReady(context, pods, only?.metadata.name ?? '');
    // Via `ReplicaSetUpdated`, if the controller has seen the Pod ready before it was available.
    const done = await context.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'reason') === 'NewReplicaSetAvailable',
    );
    includes(conditionOf(done, 'Progressing'), { status: 'True' });
  }),

  behaviour('an Event is emitted for each change of size', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    const events = await context.watch(
      `${await context.collection('events')}?fieldSelector=reason%3DScalingReplicaSet`,
    );
    await context.create(path, deployment('a'));
    const { object } = await events.next();
    includes(object, {
      type: 'Normal',
      involvedObject: { kind: 'Deployment', name: 'a' },
      source: { component: 'deployment-controller' },
    });
    assert.match(String(read(object, 'message')), /^Scaled up replica set a-\w+ from 0 to 1$/);
    await context.edit(`${path}/a`, { spec: { replicas: 0 } });
    assert.match(String(read((await events.next()).object, 'message')), /^Scaled down replica set a-\w+ from 1 to 0$/);
  }),

  behaviour('new replicas during a rollout are distributed proportionally', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } };
    await context.create(path, deployment('a', { replicas: 4, strategy }));
    for (const { metadata } of await waitForPods(context, pods, ({ length }) => length === 4))
      await makeReady(context, pods, metadata.name);
    await waitForRollout(context, `${path}/a`);
    await context.edit(`${path}/a`, image('mac:2'));
    await waitForReplicaSets(context, sets, (all) => sizes(all) === 'mac:1 2, mac:2 2');
    await context.edit(`${path}/a/scale`, { spec: { replicas: 8 } });
    await waitForReplicaSets(context, sets, (all) => sizes(all) === 'mac:1 4, mac:2 4');
  }),
]);
