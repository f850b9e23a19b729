import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

export const pods = topic('pods', [
  behaviour('defaults are set in the spec', async (context) => {
    const path = await readyForPods(context);
    const created = await context.create(path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'mac' }] },
    });
    includes(created.spec, {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      serviceAccount: 'default',
      securityContext: {},
      enableServiceLinks: true,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    });
    includes(read(created, 'spec.containers.0'), {
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'Always',
    });
    assert.deepEqual(created.status, { phase: 'Pending', qosClass: 'BestEffort' });
  }),

  behaviour('the default scheduler is default-scheduler', async (context) => {
    const path = await readyForPods(context);
    const spec = { nodeName: context.unique('ghost'), containers: [{ name: 'main', image: 'mac' }] };
    const created = await context.create(`${path}?dryRun=All`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec,
    });
    includes(created, { spec: { schedulerName: 'default-scheduler' } });
  }),

  behaviour('the pull policy is Always unless the image has a tag other than latest', async (context) => {
    const path = await readyForPods(context);
    const images = { a: 'mac', b: 'mac:latest', c: 'mac:1', d: `mac@sha256:${'0'.repeat(64)}`, e: 'host:5000/mac' };
    const containers = Object.entries(images).map(([name, image]) => ({ name, image }));
    const created = await context.create(`${path}?dryRun=All`, pod('a', { containers }));
    assert.deepEqual(
      readList(created, 'spec.containers').map((each) => read(each, 'imagePullPolicy')),
      ['Always', 'Always', 'IfNotPresent', 'IfNotPresent', 'Always'],
    );
  }),

  behaviour('requests default to limits, and set the QoS class', async (context) => {
    const path = await readyForPods(context);
    const made = async (resources: Record<string, unknown>): Promise<unknown> =>
      context.create(`${path}?dryRun=All`, pod('a', { containers: [{ name: 'main', image: 'mac', resources }] }));
    const limits = { cpu: '2', memory: '1Gi' };
    const guaranteed = await made({ limits });
    assert.deepEqual(read(guaranteed, 'spec.containers.0.resources'), { limits, requests: limits });
    assert.equal(read(guaranteed, 'status.qosClass'), 'Guaranteed');
    assert.equal(read(await made({ requests: { cpu: '1' } }), 'status.qosClass'), 'Burstable');
    assert.equal(read(await made({}), 'status.qosClass'), 'BestEffort');
  }),

  behaviour('the service account token is mounted unless the Pod opts out', async (context) => {
    const path = await readyForPods(context);
    const created = await context.create(`${path}?dryRun=All`, pod('a'));
    const volume = readList(created, 'spec.volumes')[0];
    assert.match(String(read(volume, 'name')), /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.deepEqual(
      readList(volume, 'projected.sources').map((source) => Object.keys(source ?? {})[0]),
      ['serviceAccountToken', 'configMap', 'downwardAPI'],
    );
    assert.deepEqual(read(created, 'spec.containers.0.volumeMounts'), [
      { name: read(volume, 'name'), readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
    const without = await context.create(`${path}?dryRun=All`, pod('a', { automountServiceAccountToken: false }));
    assert.equal(read(without, 'spec.volumes'), undefined);
  }),

  behaviour('a missing service account is forbidden', async (context) => {
    const path = await readyForPods(context);
    refused(await context.post(path, pod('a', { serviceAccountName: 'nobody' })), {
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: error looking up service account ${await context.namespace()}/nobody: serviceaccount "nobody" not found`,
    });
  }),

  behaviour('containers are required, with a name and an image', async (context) => {
    const path = await readyForPods(context);
    refused(await context.post(path, pod('a', { containers: [] })), {
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.containers: Required value',
    });
    refused(await context.post(path, pod('a', { containers: [{ name: 'M', image: '' }] })), {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueInvalid', message: `Invalid value: "M": ${label}`, field: 'spec.containers[0].name' },
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers[0].image' },
      ],
    });
  }),

  behaviour('two containers with one name are invalid', async (context) => {
    const path = await readyForPods(context);
    const container = { name: 'main', image: 'mac' };
    refused(await context.post(path, pod('a', { containers: [container, container] })), {
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: "main"', field: 'spec.containers[1].name' }],
    });
  }),

  behaviour('a request above its limit is invalid', async (context) => {
    const path = await readyForPods(context);
    const resources = { requests: { cpu: '2' }, limits: { cpu: '1' } };
    refused(await context.post(path, pod('a', { containers: [{ name: 'main', image: 'mac', resources }] })), {
      code: 422,
      reason: 'Invalid',
      message:
        'Pod "a" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    });
  }),

  behaviour('a mount of a missing volume is invalid', async (context) => {
    const path = await readyForPods(context);
    const containers = [{ name: 'main', image: 'mac', volumeMounts: [{ name: 'gone', mountPath: '/x' }] }];
    refused(await context.post(path, pod('a', { containers })), {
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "gone"',
    });
  }),

  behaviour('an unknown restart policy is not supported', async (context) => {
    const path = await readyForPods(context);
    refused(await context.post(path, pod('a', { restartPolicy: 'Sometimes' })), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"/,
    });
  }),

  behaviour('scheduling gates keep a Pod from the scheduler, and set a condition', async (context) => {
    const path = await readyForPods(context);
    const created = await context.create(path, pod('a', { schedulingGates: [{ name: 'example.com/gate' }] }));
    includes(read(created, 'status.conditions.0'), {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    });
    const opened = await context.patch(`${path}/a`, 'merge', { spec: { schedulingGates: [] } });
    assert.equal(opened.code, 200);
    assert.equal(read(opened.json, 'spec.schedulingGates'), undefined);
  }),
]);

const frozen =
  /^Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,`spec\.initContainers\[\*\]\.image`,`spec\.activeDeadlineSeconds`,`spec\.tolerations` \(only additions to existing tolerations\),`spec\.terminationGracePeriodSeconds` \(allow it to be set to 1 if it was previously negative\)/;

export const podUpdates = topic('updates of pods', [
  behaviour('most of the spec is immutable', async (context) => {
    const path = await readyForPods(context);
    await context.create(path, pod('a'));
    for (const spec of [
      { nodeName: 'somewhere' },
      { terminationGracePeriodSeconds: 5 },
      { restartPolicy: 'Never' },
      { hostNetwork: true },
    ]) {
      refused(await context.patch(`${path}/a`, 'merge', { spec }), { code: 422, reason: 'Invalid', message: frozen });
    }
  }),

  behaviour('the image of a container is mutable', async (context) => {
    const path = await readyForPods(context);
    await context.create(path, pod('a'));
    const answer = await context.patch(`${path}/a`, 'strategic', {
      spec: { containers: [{ name: 'main', image: 'mac:2' }] },
    });
    assert.equal(read(answer.json, 'spec.containers.0.image'), 'mac:2');
  }),

  behaviour('containers can neither be added nor removed', async (context) => {
    const path = await readyForPods(context);
    await context.create(path, pod('a'));
    refused(
      await context.patch(`${path}/a`, 'strategic', { spec: { containers: [{ name: 'more', image: 'mac:1' }] } }),
      {
        code: 422,
        reason: 'Invalid',
        message: /spec\.containers: Forbidden: pod updates may not add or remove containers/,
      },
    );
  }),

  behaviour('tolerations can only be added', async (context) => {
    const path = await readyForPods(context);
    const created = await context.create(path, pod('a'));
    const tolerations = readList(created, 'spec.tolerations');
    const more = [...tolerations, { key: 'x', operator: 'Exists' }];
    const edited = await context.edit(`${path}/a`, { spec: { tolerations: more } });
    assert.deepEqual(read(edited, 'spec.tolerations'), more);
    refused(await context.patch(`${path}/a`, 'merge', { spec: { tolerations: tolerations.slice(1) } }), {
      code: 422,
      reason: 'Invalid',
    });
  }),

  behaviour('activeDeadlineSeconds can be set and shortened, not lengthened', async (context) => {
    const path = await readyForPods(context);
    await context.create(path, pod('a'));
    await context.edit(`${path}/a`, { spec: { activeDeadlineSeconds: 50 } });
    await context.edit(`${path}/a`, { spec: { activeDeadlineSeconds: 5 } });
    refused(await context.patch(`${path}/a`, 'merge', { spec: { activeDeadlineSeconds: 50 } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'Pod "a" is invalid: spec.activeDeadlineSeconds: Invalid value: 50: must be less than or equal to previous value',
    });
  }),

  behaviour('labels and annotations are mutable', async (context) => {
    const path = await readyForPods(context);
    await context.create(path, pod('a'));
    const edited = await context.edit(`${path}/a`, { metadata: { labels: { x: 'y' }, annotations: { x: 'y' } } });
    assert.deepEqual([edited.metadata.labels, edited.metadata.annotations], [{ x: 'y' }, { x: 'y' }]);
  }),
]);

const bind = (name: string, node: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, ...more },
  target: { kind: 'Node', name: node },
});

export const binding = topic('binding', [
  behaviour('a binding assigns a Pod to a node and sets PodScheduled', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const answer = await context.post(`${pods}/a/binding`, bind('a', 'ghost', { annotations: { x: 'y' } }));
    assert.equal(answer.code, 201);
    assert.deepEqual(answer.json, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const bound = await context.fetch(`${pods}/a`);
    includes(bound, { spec: { nodeName: 'ghost' }, metadata: { annotations: { x: 'y' } } });
    includes(read(bound, 'status.conditions.0'), { type: 'PodScheduled', status: 'True' });
  }),

  behaviour('a POST of a Binding to the collection does the same', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const answer = await context.post(await context.collection('bindings'), bind('a', 'ghost'));
    assert.equal(answer.code, 201);
    includes(await context.fetch(`${pods}/a`), { spec: { nodeName: 'ghost' } });
  }),

  behaviour('a Pod with a node cannot be bound again', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a', { nodeName: 'first', tolerations: [{ operator: 'Exists' }] }));
    refused(await context.post(`${pods}/a/binding`, bind('a', 'second')), {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "first"',
      details: { name: 'a', kind: 'pods/binding' },
    });
  }),

  behaviour('a Pod with scheduling gates cannot be bound', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a', { schedulingGates: [{ name: 'example.com/gate' }] }));
    refused(await context.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "a": pod a has non-empty .spec.schedulingGates',
    });
  }),

  behaviour('a Pod being deleted cannot be bound', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, { ...pod('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await context.remove(`${pods}/a`);
    refused(await context.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods/binding "a": pod a is being deleted, cannot be assigned to a host',
    });
    await context.edit(`${pods}/a`, { metadata: { finalizers: null } });
  }),

  behaviour('a binding of a missing Pod, or of another than that of the path, fails', async (context) => {
    const pods = await readyForPods(context);
    refused(await context.post(`${pods}/a/binding`, bind('a', 'ghost')), {
      code: 404,
      reason: 'NotFound',
      message: 'pods "a" not found',
    });
    refused(await context.post(`${pods}/a/binding`, bind('b', 'ghost')), {
      code: 400,
      reason: 'BadRequest',
      message: 'name in URL does not match name in Binding object',
    });
  }),
]);
