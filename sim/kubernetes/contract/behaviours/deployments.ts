import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { read, readKey, readList, readText } from '../read.ts';
import {
  conditionOf,
  deployment,
  listObjects,
  makeReady,
  runFakeKubelet,
  waitForPods,
  revision,
  waitForRollout,
  waitForReplicaSets,
  template,
  workloadPaths,
} from '../workloads.ts';

export const deployments = topic('deployments', [
  behaviour('defaults are set', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    const created = await context.create(`${path}?dryRun=All`, deployment('a'));
    assert.equal(created.metadata.generation, 1);
    includes(created, {
      spec: {
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
    });
    assert.deepEqual(created['status'], {});
    const recreate = await context.create(`${path}?dryRun=All`, deployment('a', { strategy: { type: 'Recreate' } }));
    assert.deepEqual(read(recreate, 'spec.strategy'), { type: 'Recreate' });
  }),

  behaviour('it creates a ReplicaSet from its template, with a hash in its name', async (context) => {
    const { deployments: path, sets } = await workloadPaths(context);
    const created = await context.create(path, { ...deployment('a', { replicas: 2, minReadySeconds: 1 }) });
    const [set] = await waitForReplicaSets(context, sets, ({ length }) => length === 1);
    const hash = read(set, 'metadata.labels.pod-template-hash');
    assert.match(String(hash), /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
    includes(set, {
      metadata: {
        name: `a-${String(hash)}`,
        labels: { app: 'demo', 'pod-template-hash': hash },
        annotations: {
          'deployment.kubernetes.io/revision': '1',
          'deployment.kubernetes.io/desired-replicas': '2',
          'deployment.kubernetes.io/max-replicas': '3',
        },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: 'a',
            uid: created.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        replicas: 2,
        minReadySeconds: 1,
        selector: { matchLabels: { app: 'demo', 'pod-template-hash': hash } },
        template: { metadata: { labels: { app: 'demo', 'pod-template-hash': hash } } },
      },
    });
    const now = await context.waitFor(`${path}/a`, (object) => revision(object) === '1');
    assert.equal(now?.metadata.generation, 1, 'its own annotation does not count');
  }),

  behaviour('its status and conditions follow its Pods', async (context) => {
    const { deployments: path, pods } = await workloadPaths(context);
    await context.create(path, deployment('a', { replicas: 2 }));
    const living = await waitForPods(context, pods, ({ length }) => length === 2);
    const waiting = await context.waitFor(
      `${path}/a`,
      (object) => read(object, 'status.unavailableReplicas') === 2 && read(object, 'status.replicas') === 2,
    );
    includes(waiting, { status: { observedGeneration: 1, replicas: 2, updatedReplicas: 2 } });
    includes(conditionOf(waiting, 'Available'), {
      status: 'False',
      reason: 'MinimumReplicasUnavailable',
      message: 'Deployment does not have minimum availability.',
    });
    includes(conditionOf(waiting, 'Progressing'), { status: 'True' });
    for (const { metadata } of living) await makeReady(context, pods, metadata.name);
    const done = await waitForRollout(context, `${path}/a`);
    includes(done, { status: { readyReplicas: 2, availableReplicas: 2, unavailableReplicas: undefined } });
    includes(conditionOf(done, 'Available'), {
      status: 'True',
      reason: 'MinimumReplicasAvailable',
      message: 'Deployment has minimum availability.',
    });
    includes(conditionOf(done, 'Progressing'), { status: 'True', reason: 'NewReplicaSetAvailable' });
    assert.match(
      String(read(conditionOf(done, 'Progressing'), 'message')),
      /^ReplicaSet "a-[^"]+" has successfully progressed\.$/,
    );
  }),

  behaviour('annotations are copied to the ReplicaSet and count as a change, labels do not', async (context) => {
    const { deployments: path, sets } = await workloadPaths(context);
    await context.create(path, deployment('a', { replicas: 0 }));
    await context.edit(`${path}/a`, { metadata: { labels: { x: 'y' } } });
    await context.edit(`${path}/a`, { metadata: { annotations: { 'kubernetes.io/change-cause': 'because' } } });
    const now = await context.waitFor(`${path}/a`, (object) => read(object, 'status.observedGeneration') === 2);
    assert.equal(now?.metadata.generation, 2);
    await waitForReplicaSets(
      context,
      sets,
      ([set]) => readKey(set?.metadata.annotations, 'kubernetes.io/change-cause') === 'because',
    );
  }),

  behaviour('a matching ReplicaSet without an owner is adopted', async (context) => {
    const { deployments: path, sets } = await workloadPaths(context);
    const orphan = { ...deployment('orphan', { replicas: 0 }), kind: 'ReplicaSet' };
    await context.create(sets, { ...orphan, metadata: { name: 'orphan', labels: { app: 'demo' } } });
    const owner = await context.create(path, deployment('a', { replicas: 0 }));
    const adopted = await context.waitFor(`${sets}/orphan`, (object) => object?.metadata.ownerReferences !== undefined);
    assert.equal(adopted?.metadata.ownerReferences?.[0]?.uid, owner.metadata.uid);
    await context.waitFor(`${path}/a`, (object) => revision(object) === '1');
    assert.equal((await listObjects(context, sets)).length, 1);
  }),

  behaviour('its ReplicaSets and their Pods are deleted with it', async (context) => {
    const { deployments: path, sets, pods } = await workloadPaths(context);
    await context.create(path, deployment('a'));
    await waitForPods(context, pods, ({ length }) => length === 1);
    await context.remove(`${path}/a`);
    await waitForReplicaSets(context, sets, ({ length }) => length === 0);
    await waitForPods(context, pods, ({ length }) => length === 0);
  }),

  behaviour('a ReplicaSet that cannot create Pods sets a condition of the Deployment', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    await context.create(path, deployment('a', { template: template({ serviceAccountName: 'nobody' }) }));
    const failed = await context.waitFor(`${path}/a`, (object) => conditionOf(object, 'ReplicaFailure') !== undefined);
    includes(conditionOf(failed, 'ReplicaFailure'), { status: 'True', reason: 'FailedCreate' });
    await context.create(await context.collection('serviceaccounts'), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'nobody' },
    });
    await context.waitFor(`${path}/a`, (object) => conditionOf(object, 'ReplicaFailure') === undefined);
  }),

  behaviour('invalid fields are rejected', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    const errors: [Record<string, unknown>, string][] = [
      [
        { selector: { matchLabels: { app: 'other' } } },
        'spec.template.metadata.labels: Invalid value: {"app":"demo"}: `selector` does not match template `labels`',
      ],
      [{ selector: {} }, 'spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
      [{ replicas: -1 }, 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
      [
        { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0',
      ],
      [
        { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      ],
      [
        { strategy: { type: 'Recreate', rollingUpdate: {} } },
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
      ],
      [
        { minReadySeconds: 600 },
        'spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds',
      ],
      [
        { template: template({ restartPolicy: 'OnFailure' }) },
        'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
      ],
    ];
    for (const [spec, error] of errors) {
      refused(await context.post(path, deployment('a', spec)), {
        code: 422,
        reason: 'Invalid',
        message: `Deployment.apps "a" is invalid: ${error}`,
      });
    }
  }),

  behaviour('its selector is immutable', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    await context.create(path, deployment('a', { replicas: 0 }));
    const labels = { app: 'demo', more: 'x' };
    refused(
      await context.patch(`${path}/a`, 'merge', {
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
      }),
      { code: 422, message: /^Deployment\.apps "a" is invalid: spec\.selector: .*: field is immutable$/ },
    );
  }),

  behaviour('containers of the template are merged by name', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    await context.create(path, deployment('a', { replicas: 0 }));
    const patch = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
    await context.patch(`${path}/a`, 'strategic', patch);
    const now = await context.fetch(`${path}/a`);
    const names = readList(now, 'spec.template.spec.containers').map((each) => readText(each, 'name'));
    assert.deepEqual(names.sort(), ['main', 'side']);
  }),

  behaviour('/scale of a Deployment returns a Scale', async (context) => {
    const { deployments: path } = await workloadPaths(context);
    await context.create(path, deployment('a', { replicas: 0 }));
    includes(await context.edit(`${path}/a/scale`, { spec: { replicas: 1 } }), {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { selector: 'app=demo' },
    });
    includes(await context.fetch(`${path}/a`), { spec: { replicas: 1 } });
  }),

  behaviour('kubectl shows ready, up to date and available', async (context) => {
    const { deployments: path, pods } = await workloadPaths(context);
    await context.create(path, deployment('a'));
    await runFakeKubelet(context, pods);
    await waitForRollout(context, `${path}/a`);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { json } = await context.get(path, { headers: { accept } });
    assert.deepEqual(
      readList(json, 'columnDefinitions').map((each) => read(each, 'name')),
      ['Name', 'Ready', 'Up-to-date', 'Available', 'Age', 'Containers', 'Images', 'Selector'],
    );
    const cells = readList(json, 'rows.0.cells');
    assert.deepEqual([...cells.slice(0, 4), ...cells.slice(5)], ['a', '1/1', 1, 1, 'main', 'mac:1', 'app=demo']);
  }),
]);
