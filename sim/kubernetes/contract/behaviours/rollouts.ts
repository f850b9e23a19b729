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
  listed,
  makeReady,
  playKubelet,
  podsWhen,
  revision,
  rolled,
  setsWhen,
  sizes,
  template,
  workloadPaths,
} from '../workloads.ts';

export const rollouts = topic('rollouts', [
  behaviour('a new template is rolled out a few Pods at a time', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    await trial.create(path, deployment('a', { replicas: 4, strategy }));
    await playKubelet(trial, pods);
    await rolled(trial, `${path}/a`);
    const events = await trial.watch(`${path}?fieldSelector=metadata.name%3Da`);
    await trial.edit(`${path}/a`, image('mac:2'));
    const seen = await events.until(({ object }) => object.metadata.generation === 2 && isDone(object));
    for (const { object } of seen.slice(1)) {
      assert.ok(Number(read(object, 'status.replicas')) <= 5, 'no more than one beyond');
      assert.ok(Number(read(object, 'status.availableReplicas')) >= 3, 'no more than one missing');
    }
    const all = await listed(trial, sets);
    assert.equal(sizes(all), 'mac:1 0, mac:2 4');
    assert.deepEqual(all.map((set) => `${String(imageOf(set))} is ${String(revision(set))}`).sort(), [
      'mac:1 is 1',
      'mac:2 is 2',
    ]);
    assert.equal(revision(await trial.fetch(`${path}/a`)), '2');
  }),

  behaviour('a rollout stops while its new Pods are not available', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
    await trial.create(path, deployment('a', { replicas: 3, strategy }));
    for (const { metadata } of await podsWhen(trial, pods, ({ length }) => length === 3))
      await makeReady(trial, pods, metadata.name);
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, image('mac:2'));
    const living = await podsWhen(
      trial,
      pods,
      (all) => all.length === 3 && all.some((each) => read(each, 'spec.containers.0.image') === 'mac:2'),
    );
    assert.equal(living.filter(isReady).length, 2);
    await trial.waitFor(`${path}/a`, (object) => read(object, 'status.updatedReplicas') === 1);
    assert.equal(sizes(await listed(trial, sets)), 'mac:1 2, mac:2 1');
  }),

  behaviour('Recreate deletes the last old Pod before it creates the first new one', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    // Pods that are bound to a node stay until their kubelet has ended them.
    const spec = { strategy: { type: 'Recreate' }, template: template({ nodeName: trial.unique('node') }) };
    await trial.create(path, deployment('a', spec));
    const [first] = await podsWhen(trial, pods, ({ length }) => length === 1);
    await makeReady(trial, pods, first?.metadata.name ?? '');
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, image('mac:2'));
    const at = `${pods}/${first?.metadata.name}`;
    await trial.waitFor(at, (object) => object?.metadata.deletionTimestamp !== undefined);
    await trial.waitFor(`${path}/a`, (object) => read(object, 'status.observedGeneration') === 2);
    assert.equal((await listed(trial, sets)).length, 1);
    await trial.delete(`${at}?gracePeriodSeconds=0`);
    const [second] = await podsWhen(trial, pods, ({ length }) => length === 1);
    assert.equal(read(second, 'spec.containers.0.image'), 'mac:2');
  }),

  behaviour('while paused, a new template waits, but new replicas do not', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    await trial.create(path, deployment('a'));
    await playKubelet(trial, pods);
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, { spec: { paused: true } });
    const paused = await trial.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'reason') === 'DeploymentPaused',
    );
    includes(conditionOf(paused, 'Progressing'), { status: 'Unknown', message: 'Deployment is paused' });
    await trial.edit(`${path}/a`, { ...image('mac:2') });
    await trial.edit(`${path}/a`, { spec: { replicas: 2 } });
    await trial.waitFor(`${path}/a`, (object) => read(object, 'status.availableReplicas') === 2);
    const [only, ...more] = await listed(trial, sets);
    assert.deepEqual([more.length, imageOf(only), read(only, 'spec.replicas')], [0, 'mac:1', 2]);
    await trial.edit(`${path}/a`, { spec: { paused: null } });
    await rolled(trial, `${path}/a`);
    assert.equal(revision(await trial.fetch(`${path}/a`)), '2');
  }),

  behaviour('an old template reuses its ReplicaSet, as the newest revision', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    await trial.create(path, deployment('a'));
    await playKubelet(trial, pods);
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, image('mac:2'));
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, image('mac:1'));
    await trial.waitFor(`${path}/a`, (object) => revision(object) === '3' && isDone(object));
    const all = await listed(trial, sets);
    assert.equal(all.length, 2);
    const back = all.find((set) => imageOf(set) === 'mac:1');
    assert.equal(revision(back), '3');
    const history = readKey(back?.metadata.annotations, 'deployment.kubernetes.io/revision-history');
    assert.equal(history, '1');
  }),

  behaviour('old revisions beyond the limit are deleted', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    await trial.create(path, deployment('a', { revisionHistoryLimit: 1 }));
    await playKubelet(trial, pods);
    await rolled(trial, `${path}/a`);
    for (const name of ['mac:2', 'mac:3']) {
      await trial.edit(`${path}/a`, image(name));
      await trial.waitFor(`${path}/a`, (object) => imageOf(object) === name && isDone(object));
    }
    const left = await setsWhen(trial, sets, ({ length }) => length === 2);
    assert.deepEqual(left.map((set) => String(revision(set))).sort(), ['2', '3']);
  }),

  behaviour('a missed progress deadline is a condition, and progress clears it', async (trial) => {
    const { deployments: path, pods } = await workloadPaths(trial);
    await trial.create(path, deployment('a', { progressDeadlineSeconds: 1 }));
    const late = await trial.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'status') === 'False',
    );
    includes(conditionOf(late, 'Progressing'), { reason: 'ProgressDeadlineExceeded' });
    assert.match(
      String(read(conditionOf(late, 'Progressing'), 'message')),
      /^ReplicaSet "a-[^"]+" has timed out progressing\.$/,
    );
    const [only] = await podsWhen(trial, pods, ({ length }) => length === 1);
    await makeReady(trial, pods, only?.metadata.name ?? '');
    // Via `ReplicaSetUpdated`, if the controller has seen the Pod ready before it was available.
    const done = await trial.waitFor(
      `${path}/a`,
      (object) => read(conditionOf(object, 'Progressing'), 'reason') === 'NewReplicaSetAvailable',
    );
    includes(conditionOf(done, 'Progressing'), { status: 'True' });
  }),

  behaviour('an Event is emitted for each change of size', async (trial) => {
    const { deployments: path } = await workloadPaths(trial);
    const events = await trial.watch(`${await trial.collection('events')}?fieldSelector=reason%3DScalingReplicaSet`);
    await trial.create(path, deployment('a'));
    const { object } = await events.next();
    includes(object, {
      type: 'Normal',
      involvedObject: { kind: 'Deployment', name: 'a' },
      source: { component: 'deployment-controller' },
    });
    assert.match(String(read(object, 'message')), /^Scaled up replica set a-\w+ from 0 to 1$/);
    await trial.edit(`${path}/a`, { spec: { replicas: 0 } });
    assert.match(String(read((await events.next()).object, 'message')), /^Scaled down replica set a-\w+ from 1 to 0$/);
  }),

  behaviour('new replicas during a rollout are distributed proportionally', async (trial) => {
    const { deployments: path, sets, pods } = await workloadPaths(trial);
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } };
    await trial.create(path, deployment('a', { replicas: 4, strategy }));
    for (const { metadata } of await podsWhen(trial, pods, ({ length }) => length === 4))
      await makeReady(trial, pods, metadata.name);
    await rolled(trial, `${path}/a`);
    await trial.edit(`${path}/a`, image('mac:2'));
    await setsWhen(trial, sets, (all) => sizes(all) === 'mac:1 2, mac:2 2');
    await trial.edit(`${path}/a/scale`, { spec: { replicas: 8 } });
    await setsWhen(trial, sets, (all) => sizes(all) === 'mac:1 4, mac:2 4');
  }),
]);
