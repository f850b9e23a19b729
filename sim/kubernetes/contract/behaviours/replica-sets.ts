import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { read, readKey, readList } from '../read.ts';
import {
  conditionOf,
  isReady,
  listObjects,
  makeReady,
  waitForPods,
  replicaSet,
  template,
  workloadPaths,
} from '../workloads.ts';

const counts = (object: unknown): unknown[] =>
  ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'].map((field) =>
    read(object, `status.${field}`),
  );

export const replicaSets = topic('replica sets', [
  behaviour('defaults are set, also in the template', async (context) => {
    const { sets } = await workloadPaths(context);
    const { apiVersion, kind, spec, status, metadata } = await context.create(`${sets}?dryRun=All`, replicaSet('a'));
    assert.equal(metadata.generation, 1);
    assert.deepEqual(
      { apiVersion, kind, spec, status },
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: 'demo' } },
          template: {
            metadata: { labels: { app: 'demo' } },
            spec: {
              containers: [
                {
                  name: 'main',
                  image: 'mac:1',
                  resources: {},
                  terminationMessagePath: '/dev/termination-log',
                  terminationMessagePolicy: 'File',
                  imagePullPolicy: 'IfNotPresent',
                },
              ],
              restartPolicy: 'Always',
              terminationGracePeriodSeconds: 30,
              dnsPolicy: 'ClusterFirst',
              securityContext: {},
              schedulerName: 'nobody',
            },
          },
        },
        status: { replicas: 0 },
      },
    );
  }),

  behaviour('it creates Pods from its template, and owns them', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    const set = await context.create(
      sets,
      replicaSet('a', {
        replicas: 2,
        template: { ...template(), metadata: { labels: { app: 'demo' }, annotations: { 'example.com/x': 'y' } } },
      }),
    );
    const made = await waitForPods(context, pods, ({ length }) => length === 2);
    for (const { metadata } of made) {
      assert.match(metadata.name, /^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      includes(metadata, {
        generateName: 'a-',
        labels: { app: 'demo' },
        annotations: { 'example.com/x': 'y' },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'a',
            uid: set.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
    }
  }),

  behaviour('an Event is emitted for each Pod that it creates or deletes', async (context) => {
    const { sets } = await workloadPaths(context);
    const events = await context.watch(await context.collection('events'));
    await context.create(sets, replicaSet('a'));
    const created = await events.until(({ object }) => read(object, 'reason') === 'SuccessfulCreate');
    includes(created.at(-1)?.object, {
      type: 'Normal',
      involvedObject: { kind: 'ReplicaSet', name: 'a' },
      source: { component: 'replicaset-controller' },
    });
    assert.match(String(read(created.at(-1), 'object.message')), /^Created pod: a-/);
    await context.edit(`${sets}/a`, { spec: { replicas: 0 } });
    const deleted = await events.until(({ object }) => read(object, 'reason') === 'SuccessfulDelete');
    assert.match(String(read(deleted.at(-1), 'object.message')), /^Deleted pod: a-/);
  }),

  behaviour('its status counts Pods, ready Pods and available Pods', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a', { replicas: 2, minReadySeconds: 3600 }));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 2);
    await makeReady(context, pods, first?.metadata.name ?? '');
    const set = await context.waitFor(`${sets}/a`, (object) => read(object, 'status.readyReplicas') === 1);
    assert.deepEqual(counts(set), [2, 2, 1, undefined]);
    assert.equal(read(set, 'status.observedGeneration'), 1);
    await context.edit(`${sets}/a`, { spec: { minReadySeconds: 0 } });
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.availableReplicas') === 1);
  }),

  behaviour('a Pod that disappears is replaced', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a'));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 1);
    await context.remove(`${pods}/${first?.metadata.name}`);
    await waitForPods(
      context,
      pods,
      ([now, ...more]) => more.length === 0 && now?.metadata.uid !== first?.metadata.uid,
    );
  }),

  behaviour('a failed Pod is replaced, and is kept', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a'));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 1);
    await context.edit(`${pods}/${first?.metadata.name}/status`, { status: { phase: 'Failed' } });
    const both = await waitForPods(context, pods, ({ length }) => length === 2);
    assert.ok(both.some(({ metadata }) => metadata.uid === first?.metadata.uid));
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.replicas') === 1);
  }),

  behaviour('a matching Pod without an owner is adopted', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(pods, { ...pod('orphan'), metadata: { name: 'orphan', labels: { app: 'demo' } } });
    const set = await context.create(sets, replicaSet('a'));
    const adopted = await context.waitFor(`${pods}/orphan`, (object) => object?.metadata.ownerReferences !== undefined);
    assert.equal(adopted?.metadata.ownerReferences?.[0]?.uid, set.metadata.uid);
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.replicas') === 1);
    assert.equal((await listObjects(context, pods)).length, 1);
  }),

  behaviour('a Pod that no longer matches is released and replaced', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a'));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 1);
    await context.edit(`${pods}/${first?.metadata.name}`, { metadata: { labels: { app: 'other' } } });
    const both = await waitForPods(
      context,
      pods,
      (living) => living.length === 2 && living.some(({ metadata }) => metadata.ownerReferences === undefined),
    );
    const released = both.find(({ metadata }) => metadata.ownerReferences === undefined);
    assert.equal(released?.metadata.uid, first?.metadata.uid);
  }),

  behaviour('surplus Pods that are not ready are deleted first', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a', { replicas: 3 }));
    const [, second] = await waitForPods(context, pods, ({ length }) => length === 3);
    await makeReady(context, pods, second?.metadata.name ?? '');
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.readyReplicas') === 1);
    await context.edit(`${sets}/a`, { spec: { replicas: 1 } });
    const [left] = await waitForPods(context, pods, ({ length }) => length === 1);
    assert.equal(left?.metadata.uid, second?.metadata.uid);
    assert.ok(isReady(left));
  }),

  behaviour('the deletion cost decides between similar Pods', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a', { replicas: 3 }));
    const [first] = await waitForPods(context, pods, ({ length }) => length === 3);
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' };
    await context.edit(`${pods}/${first?.metadata.name}`, { metadata: { annotations } });
    await context.edit(`${sets}/a`, { spec: { replicas: 1 } });
    const [left] = await waitForPods(context, pods, ({ length }) => length === 1);
    assert.equal(left?.metadata.uid, first?.metadata.uid);
  }),

  behaviour('Pods that cannot be created are reported in a condition and an Event', async (context) => {
    const { sets } = await workloadPaths(context);
    const events = await context.watch(`${await context.collection('events')}?fieldSelector=reason%3DFailedCreate`);
    await context.create(sets, replicaSet('a', { template: template({ serviceAccountName: 'nobody' }) }));
    const failed = await context.waitFor(`${sets}/a`, (object) => conditionOf(object, 'ReplicaFailure') !== undefined);
    includes(conditionOf(failed, 'ReplicaFailure'), { status: 'True', reason: 'FailedCreate' });
    const why = /^pods "a-" is forbidden: error looking up service account .*: serviceaccount "nobody" not found$/;
    assert.match(String(read(conditionOf(failed, 'ReplicaFailure'), 'message')), why);
    assert.match(String(read((await events.next()).object, 'message')), /^Error creating: pods "a-" is forbidden/);
  }),

  behaviour('/scale returns the current and desired replicas, and changes only spec.replicas', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a', { replicas: 2 }));
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.replicas') === 2);
    const scale = await context.fetch(`${sets}/a/scale`);
    includes(scale, {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: await context.namespace() },
      spec: { replicas: 2 },
      status: { replicas: 2, selector: 'app=demo' },
    });
    includes(await context.replace(`${sets}/a/scale`, { ...scale, spec: { replicas: 1 } }), { spec: { replicas: 1 } });
    await waitForPods(context, pods, ({ length }) => length === 1);
    includes(await context.edit(`${sets}/a/scale`, { spec: { replicas: 0 } }), { spec: {} });
    assert.equal((await context.fetch(`${sets}/a`)).metadata.generation, 3);
    const answer = await context.patch(`${sets}/a/scale`, 'merge', { spec: { replicas: -1 } });
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      causes: [
        {
          reason: 'FieldValueInvalid',
          message: 'Invalid value: -1: must be greater than or equal to 0',
          field: 'spec.replicas',
        },
      ],
    });
  }),

  behaviour('a selector that does not match the template is rejected', async (context) => {
    const { sets } = await workloadPaths(context);
    refused(await context.post(sets, replicaSet('a', { selector: { matchLabels: { app: 'other' } } })), {
      code: 422,
      reason: 'Invalid',
      message:
        'ReplicaSet.apps "a" is invalid: spec.template.metadata.labels: Invalid value: {"app":"demo"}: `selector` does not match template `labels`',
    });
    refused(await context.post(sets, replicaSet('a', { selector: undefined })), {
      code: 422,
      message: /spec\.selector: Required value/,
    });
  }),

  behaviour('restartPolicy must be Always, without activeDeadlineSeconds', async (context) => {
    const { sets } = await workloadPaths(context);
    refused(await context.post(sets, replicaSet('a', { template: template({ restartPolicy: 'Never' }) })), {
      code: 422,
      message:
        'ReplicaSet.apps "a" is invalid: spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    });
    refused(await context.post(sets, replicaSet('a', { template: template({ activeDeadlineSeconds: 5 }) })), {
      code: 422,
      message:
        'ReplicaSet.apps "a" is invalid: spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    });
    refused(await context.post(sets, replicaSet('a', { template: template({ containers: [{ name: 'x' }] }) })), {
      code: 422,
      message: 'ReplicaSet.apps "a" is invalid: spec.template.spec.containers[0].image: Required value',
    });
  }),

  behaviour('its selector is immutable', async (context) => {
    const { sets } = await workloadPaths(context);
    const set = await context.create(sets, replicaSet('a', { replicas: 0 }));
    const labels = { app: 'demo', more: 'x' };
    refused(
      await context.patch(`${sets}/a`, 'merge', {
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
      }),
      {
        code: 422,
        message: `ReplicaSet.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"demo","more":"x"}}: field is immutable`,
      },
    );
    assert.equal(set.metadata.generation, 1);
  }),

  behaviour('its Pods are deleted with it, or orphaned', async (context) => {
    const { sets, pods } = await workloadPaths(context);
    await context.create(sets, replicaSet('a'));
    const [made] = await waitForPods(context, pods, ({ length }) => length === 1);
    // The garbage collector orphans only the Pods in its cache. `status.replicas` comes from the same watch.
    await context.waitFor(`${sets}/a`, (object) => read(object, 'status.replicas') === 1);
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' };
    await context.remove(`${sets}/a`, options);
    await context.waitFor(`${sets}/a`, (object) => object === undefined);
    const [left] = await waitForPods(context, pods, ([one]) => one?.metadata.ownerReferences === undefined);
    assert.equal(left?.metadata.uid, made?.metadata.uid);
    const set = await context.create(sets, replicaSet('b'));
    await waitForPods(context, pods, ([one]) => one?.metadata.ownerReferences?.[0]?.uid === set.metadata.uid);
    await context.remove(`${sets}/b`);
    await waitForPods(context, pods, ({ length }) => length === 0);
  }),

  behaviour('kubectl shows desired, current and ready', async (context) => {
    const { sets } = await workloadPaths(context);
    await context.create(sets, replicaSet('a', { replicas: 0 }));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { json } = await context.get(sets, { headers: { accept } });
    assert.deepEqual(
      readList(json, 'columnDefinitions').map((each) => read(each, 'name')),
      ['Name', 'Desired', 'Current', 'Ready', 'Age', 'Containers', 'Images', 'Selector'],
    );
    const cells = readList(json, 'rows.0.cells');
    assert.deepEqual([...cells.slice(0, 4), ...cells.slice(5)], ['a', 0, 0, 0, 'main', 'mac:1', 'app=demo']);
    assert.ok(readKey(json, 'rows'));
  }),
]);
