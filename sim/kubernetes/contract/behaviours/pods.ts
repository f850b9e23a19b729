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
  behaviour('what a spec leaves out is filled in', async (trial) => {
    const path = await readyForPods(trial);
    const created = await trial.create(path, {
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

  behaviour('the default scheduler is default-scheduler', async (trial) => {
    const path = await readyForPods(trial);
    const spec = { nodeName: trial.unique('ghost'), containers: [{ name: 'main', image: 'mac' }] };
    const created = await trial.create(`${path}?dryRun=All`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec,
    });
    includes(created, { spec: { schedulerName: 'default-scheduler' } });
  }),

  behaviour('images are always pulled unless they name a tag other than latest', async (trial) => {
    const path = await readyForPods(trial);
    const images = { a: 'mac', b: 'mac:latest', c: 'mac:1', d: `mac@sha256:${'0'.repeat(64)}`, e: 'host:5000/mac' };
    const containers = Object.entries(images).map(([name, image]) => ({ name, image }));
    const created = await trial.create(`${path}?dryRun=All`, pod('a', { containers }));
    assert.deepEqual(
      readList(created, 'spec.containers').map((each) => read(each, 'imagePullPolicy')),
      ['Always', 'Always', 'IfNotPresent', 'IfNotPresent', 'Always'],
    );
  }),

  behaviour('requests default to limits, and decide the class of service', async (trial) => {
    const path = await readyForPods(trial);
    const made = async (resources: Record<string, unknown>): Promise<unknown> =>
      trial.create(`${path}?dryRun=All`, pod('a', { containers: [{ name: 'main', image: 'mac', resources }] }));
    const limits = { cpu: '2', memory: '1Gi' };
    const guaranteed = await made({ limits });
    assert.deepEqual(read(guaranteed, 'spec.containers.0.resources'), { limits, requests: limits });
    assert.equal(read(guaranteed, 'status.qosClass'), 'Guaranteed');
    assert.equal(read(await made({ requests: { cpu: '1' } }), 'status.qosClass'), 'Burstable');
    assert.equal(read(await made({}), 'status.qosClass'), 'BestEffort');
  }),

  behaviour('the service account token is mounted, unless the Pod does not want it', async (trial) => {
    const path = await readyForPods(trial);
    const created = await trial.create(`${path}?dryRun=All`, pod('a'));
    const volume = readList(created, 'spec.volumes')[0];
    assert.match(String(read(volume, 'name')), /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.deepEqual(
      readList(volume, 'projected.sources').map((source) => Object.keys(source ?? {})[0]),
      ['serviceAccountToken', 'configMap', 'downwardAPI'],
    );
    assert.deepEqual(read(created, 'spec.containers.0.volumeMounts'), [
      { name: read(volume, 'name'), readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
    const without = await trial.create(`${path}?dryRun=All`, pod('a', { automountServiceAccountToken: false }));
    assert.equal(read(without, 'spec.volumes'), undefined);
  }),

  behaviour('a service account that does not exist is forbidden', async (trial) => {
    const path = await readyForPods(trial);
    refused(await trial.post(path, pod('a', { serviceAccountName: 'nobody' })), {
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: error looking up service account ${await trial.namespace()}/nobody: serviceaccount "nobody" not found`,
    });
  }),

  behaviour('containers are required, with a name and an image', async (trial) => {
    const path = await readyForPods(trial);
    refused(await trial.post(path, pod('a', { containers: [] })), {
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.containers: Required value',
    });
    refused(await trial.post(path, pod('a', { containers: [{ name: 'M', image: '' }] })), {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueInvalid', message: `Invalid value: "M": ${label}`, field: 'spec.containers[0].name' },
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers[0].image' },
      ],
    });
  }),

  behaviour('two containers of one name are invalid', async (trial) => {
    const path = await readyForPods(trial);
    const container = { name: 'main', image: 'mac' };
    refused(await trial.post(path, pod('a', { containers: [container, container] })), {
      code: 422,
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: "main"', field: 'spec.containers[1].name' }],
    });
  }),

  behaviour('a request above its limit is invalid', async (trial) => {
    const path = await readyForPods(trial);
    const resources = { requests: { cpu: '2' }, limits: { cpu: '1' } };
    refused(await trial.post(path, pod('a', { containers: [{ name: 'main', image: 'mac', resources }] })), {
      code: 422,
      reason: 'Invalid',
      message:
        'Pod "a" is invalid: spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    });
  }),

  behaviour('a mount of a volume that the Pod does not have is invalid', async (trial) => {
    const path = await readyForPods(trial);
    const containers = [{ name: 'main', image: 'mac', volumeMounts: [{ name: 'gone', mountPath: '/x' }] }];
    refused(await trial.post(path, pod('a', { containers })), {
      code: 422,
      reason: 'Invalid',
      message: 'Pod "a" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "gone"',
    });
  }),

  behaviour('an unknown restart policy is not supported', async (trial) => {
    const path = await readyForPods(trial);
    refused(await trial.post(path, pod('a', { restartPolicy: 'Sometimes' })), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"/,
    });
  }),

  behaviour('scheduling gates keep a Pod from the scheduler, and its condition says so', async (trial) => {
    const path = await readyForPods(trial);
    const created = await trial.create(path, pod('a', { schedulingGates: [{ name: 'example.com/gate' }] }));
    includes(read(created, 'status.conditions.0'), {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    });
    const opened = await trial.patch(`${path}/a`, 'merge', { spec: { schedulingGates: [] } });
    assert.equal(opened.code, 200);
    assert.equal(read(opened.json, 'spec.schedulingGates'), undefined);
  }),
]);
