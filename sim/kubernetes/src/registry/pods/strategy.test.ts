import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { fieldsOf, objectsOf } from '../../unstructured.ts';
import { admin, type Body, type Fixture, fixture, namespace, rejection } from '../testing/fixture.ts';
import { isLatest } from './defaults.ts';
import { qosClassOf } from './strategy.ts';

describe('pods', () => {
  const containers = [{ name: 'a', image: 'a' }];
  const pod = (spec: object = {}, metadata: object = {}): Body => ({
    metadata: { name: 'p', ...metadata },
    spec: { containers, ...spec },
  });
  const specOf = (object: KubeObject): Record<string, unknown> => fieldsOf(object['spec']);
  const edited = (object: KubeObject, spec: object): KubeObject => ({
    ...object,
    spec: { ...specOf(object), ...spec },
  });

  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (spec?: object, metadata?: object): KubeObject => cluster.create('pods', pod(spec, metadata));
  const refused = (spec: object): Promise<string[]> => rejection(() => create(spec));

  describe('a new Pod', () => {
    it('gets the defaults of the real server', () => {
      const made = create();
      assert.deepEqual(made['spec'], {
        volumes: [
          {
            name: 'kube-api-access-bbbbb',
            projected: {
              sources: [
                { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
                { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
                {
                  downwardAPI: {
                    items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                  },
                },
              ],
              defaultMode: 420,
            },
          },
        ],
        containers: [
          {
            name: 'a',
            image: 'a',
            resources: {},
            volumeMounts: [
              {
                name: 'kube-api-access-bbbbb',
                readOnly: true,
                mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
              },
            ],
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'Always',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        serviceAccountName: 'default',
        serviceAccount: 'default',
        securityContext: {},
        schedulerName: 'default-scheduler',
        tolerations: ['not-ready', 'unreachable'].map((state) => ({
          key: `node.kubernetes.io/${state}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        })),
        priority: 0,
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
      });
      assert.deepEqual(made['status'], { phase: 'Pending', qosClass: 'BestEffort' });
      assert.equal(made.metadata.generation, 1);
    });

    it('gets no token with automountServiceAccountToken false', () => {
      assert.equal(specOf(create({ automountServiceAccountToken: false }))['volumes'], undefined);
      cluster.create('serviceaccounts', { metadata: { name: 'quiet' }, automountServiceAccountToken: false });
      assert.equal(specOf(create({ serviceAccountName: 'quiet' }, { name: 'q' }))['volumes'], undefined);
    });

    it('keeps its own mount at the token path', () => {
      const volumeMounts = [{ name: 'v', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }];
      const spec = specOf(create({ containers: [{ name: 'a', image: 'a', volumeMounts }], volumes: [{ name: 'v' }] }));
      assert.deepEqual(spec['volumes'], [{ name: 'v', emptyDir: {} }]);
    });

    it('gets the imagePullSecrets of its ServiceAccount', () => {
      cluster.create('serviceaccounts', { metadata: { name: 'puller' }, imagePullSecrets: [{ name: 's' }] });
      assert.deepEqual(specOf(create({ serviceAccountName: 'puller' }))['imagePullSecrets'], [{ name: 's' }]);
    });

    it('gets requests from its limits', () => {
      const limited = [
        { name: 'a', image: 'a', resources: { limits: { cpu: '1.5', memory: '1Gi' }, requests: { cpu: '1' } } },
      ];
      const [container] = objectsOf(specOf(create({ containers: limited }))['containers']);
      assert.deepEqual(container?.['resources'], {
        limits: { cpu: '1500m', memory: '1Gi' },
        requests: { cpu: '1', memory: '1Gi' },
      });
    });

    it('with scheduling gates gets the condition SchedulingGated', () => {
      assert.deepEqual(fieldsOf(create({ schedulingGates: [{ name: 'g' }] })['status'])['conditions'], [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ]);
    });

    const forbidden: [string, object, string][] = [
      [
        'without its ServiceAccount',
        { serviceAccountName: 'x' },
        `error looking up service account ${namespace}/x: serviceaccount "x" not found`,
      ],
      ['of an unknown priority class', { priorityClassName: 'x' }, 'no PriorityClass with name x was found'],
      [
        'of a priority of its own',
        { priority: 5 },
        'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
      ],
      ['of an unknown runtime class', { runtimeClassName: 'x' }, 'pod rejected: RuntimeClass "x" not found'],
    ];
    for (const [name, spec, why] of forbidden) {
      it(`is forbidden ${name}`, async () =>
        assert.deepEqual(await refused(spec), ['403', `pods "p" is forbidden: ${why}`]));
    }

    const invalid: [string, object, string[]][] = [
      ['no containers', { containers: [] }, ['spec.containers: Required value']],
      ['a container without a name', { containers: [{ image: 'a' }] }, ['spec.containers[0].name: Required value']],
      ['a container without an image', { containers: [{ name: 'a' }] }, ['spec.containers[0].image: Required value']],
      [
        'two containers of one name',
        { containers: [...containers, ...containers] },
        ['spec.containers[1].name: Duplicate value: "a"'],
      ],
      [
        'an init container that is also a container',
        { initContainers: containers },
        ['spec.initContainers[0].name: Duplicate value: "a"'],
      ],
      [
        'an image with a space',
        { containers: [{ name: 'a', image: 'a ' }] },
        ['spec.containers[0].image: Invalid value: "a ": must not have leading or trailing whitespace'],
      ],
      [
        'an unknown restart policy',
        { restartPolicy: 'x' },
        ['spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"'],
      ],
      [
        'a mount of no volume',
        { containers: [{ name: 'a', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/' }] }] },
        ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
      ],
      [
        'a port without a number',
        { containers: [{ name: 'a', image: 'a', ports: [{ name: 'web' }] }] },
        ['spec.containers[0].ports[0].containerPort: Required value'],
      ],
      [
        'a variable without a name',
        { containers: [{ name: 'a', image: 'a', env: [{ value: 'x' }] }] },
        ['spec.containers[0].env[0].name: Required value'],
      ],
      [
        'half an extended resource',
        { containers: [{ name: 'a', image: 'a', resources: { limits: { 'a.b/c': '500m' } } }] },
        [
          'spec.containers[0].resources.limits[a.b/c]: Invalid value: "500m": must be an integer',
          'spec.containers[0].resources.requests[a.b/c]: Invalid value: "500m": must be an integer',
        ],
      ],
      [
        'more than its limit',
        { containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }] },
        ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
      ],
      [
        'two volumes of one name',
        { volumes: [{ name: 'v' }, { name: 'v' }] },
        ['spec.volumes[1].name: Duplicate value: "v"'],
      ],
      [
        'a volume of two types',
        { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] },
        ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
      ],
      [
        'a toleration that ends without an effect',
        { tolerations: [{ key: 'a', tolerationSeconds: 1 }] },
        ['spec.tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
      ],
      [
        'macOS',
        { os: { name: 'darwin' } },
        ['spec.os: Unsupported value: "darwin": supported values: "linux", "windows"'],
      ],
      [
        'a probe that asks nothing',
        { containers: [{ name: 'a', image: 'a', livenessProbe: {} }] },
        ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
      ],
      [
        'a node before its gates are open',
        { nodeName: 'n', schedulingGates: [{ name: 'g' }] },
        ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
      ],
      [
        'two mounts at one place',
        {
          volumes: [{ name: 'v' }],
          containers: [
            {
              name: 'a',
              image: 'a',
              volumeMounts: [
                { name: 'v', mountPath: '/x' },
                { name: 'v', mountPath: '/x' },
              ],
            },
          ],
        },
        ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
      ],
      [
        'one host port twice',
        {
          containers: [
            {
              name: 'a',
              image: 'a',
              ports: [
                { containerPort: 1, hostPort: 5 },
                { containerPort: 2, hostPort: 5 },
              ],
            },
          ],
        },
        ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5"'],
      ],
      [
        'a secret volume without a secret',
        { volumes: [{ name: 'v', secret: {} }] },
        ['spec.volumes[0].secret.secretName: Required value'],
      ],
    ];
    for (const [name, spec, causes] of invalid) {
      it(`is invalid with ${name}`, async () => assert.deepEqual(await refused(spec), ['422', ...causes]));
    }
  });

  describe('an existing Pod', () => {
    it('may get another image, which increases its generation', () => {
      const made = create();
      const [container] = objectsOf(specOf(made)['containers']);
      const updated = cluster.update('pods', edited(made, { containers: [{ ...container, image: 'b' }] }));
      assert.equal(updated.metadata.generation, 2);
      assert.equal(
        cluster.update('pods', { ...updated, metadata: { ...updated.metadata, labels: { a: 'b' } } }).metadata
          .generation,
        2,
      );
    });

    const changes: [string, object, RegExp][] = [
      [
        'another node',
        { nodeName: 'n' },
        /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,`spec\.initContainers\[\*\]\.image`,`spec\.activeDeadlineSeconds`,`spec\.tolerations` \(only additions to existing tolerations\),`spec\.terminationGracePeriodSeconds` \(allow it to be set to 1 if it was previously negative\)\n\+ "nodeName": "n",\n$/,
      ],
      [
        'another container',
        { containers: [...containers, { name: 'b', image: 'b' }] },
        /^spec\.containers: Forbidden: pod updates may not add or remove containers$/,
      ],
      [
        'a later end',
        { activeDeadlineSeconds: 20 },
        /^spec\.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value$/,
      ],
      [
        'no end any more',
        { activeDeadlineSeconds: undefined },
        /^spec\.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value$/,
      ],
      [
        'fewer tolerations',
        { tolerations: [{ operator: 'Exists' }] },
        /^spec\.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds$/,
      ],
      [
        'another gate',
        { schedulingGates: [{ name: 'h' }] },
        /^spec\.schedulingGates\[0\]\.name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'$/,
      ],
    ];
    for (const [name, spec, cause] of changes) {
      it(`cannot get ${name}`, async () => {
        const made = create({ activeDeadlineSeconds: 10 });
        const [code, ...causes] = await rejection(() => cluster.update('pods', edited(made, spec)));
        assert.equal(code, '422');
        assert.match(causes.at(-1) ?? '', cause);
      });
    }

    it('accepts additional tolerations', () => {
      const made = create();
      const tolerations = [...objectsOf(specOf(made)['tolerations']), { key: 'a', operator: 'Exists' }];
      assert.deepEqual(specOf(cluster.update('pods', edited(made, { tolerations })))['tolerations'], tolerations);
    });

    it('keeps its priority when an update omits it', () => {
      const made = create();
      assert.equal(specOf(cluster.update('pods', edited(made, { priority: undefined })))['priority'], 0);
    });
  });

  describe('the status of a Pod', () => {
    const report = (made: KubeObject, status: object, metadata: object = {}): KubeObject =>
      cluster.api.updateStatus(
        cluster.resource('pods'),
        namespace,
        { ...made, metadata: { ...made.metadata, ...metadata }, status: { ...fieldsOf(made['status']), ...status } },
        admin,
      );

    it('changes labels but not owners and spec', () => {
      const made = create();
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' };
      const next = report(
        edited(made, { nodeName: 'n' }),
        { podIP: '10.0.0.1' },
        { labels: { a: 'b' }, ownerReferences: [owner] },
      );
      assert.deepEqual([next.metadata.labels, next.metadata.ownerReferences], [{ a: 'b' }, undefined]);
      assert.deepEqual(next['spec'], made['spec']);
      assert.deepEqual(fieldsOf(next['status'])['podIPs'], [{ ip: '10.0.0.1' }]);
    });

    it('keeps its QoS class and observedGeneration', () => {
      const made = report(create(), {
        observedGeneration: 1,
        conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }],
      });
      const status = fieldsOf(
        report(made, { qosClass: '', observedGeneration: 0, conditions: [{ type: 'Ready', status: 'False' }] })[
          'status'
        ],
      );
      assert.equal(status['qosClass'], 'BestEffort');
      assert.equal(status['observedGeneration'], 1);
      assert.equal(objectsOf(status['conditions'])[0]?.['observedGeneration'], 1);
    });

    it('cannot move a terminated container back to running', async () => {
      const state = (value: object) => ({
        containerStatuses: [{ name: 'a', image: 'a', imageID: '', ready: false, restartCount: 0, state: value }],
      });
      const made = report(create({ restartPolicy: 'OnFailure' }), state({ terminated: { exitCode: 0 } }));
      assert.deepEqual(await rejection(() => report(made, state({ running: {} }))), [
        '422',
        'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
      ]);
      const failed = report(
        create({ restartPolicy: 'OnFailure' }, { name: 'q' }),
        state({ terminated: { exitCode: 1 } }),
      );
      assert.deepEqual(await rejection(() => report(failed, state({ running: {} }))), []);
    });

    it('is validated', async () => {
      const made = create();
      const causes = await rejection(() =>
        report(made, {
          qosClass: 'Guaranteed',
          observedGeneration: -1,
          hostIP: '1.1.1.1',
          hostIPs: [{ ip: '2.2.2.2' }],
        }),
      );
      assert.deepEqual(causes, [
        '422',
        'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
        'status.qosClass: Invalid value: "Guaranteed": field is immutable',
        'status.hostIPs[0].ip: Invalid value: "2.2.2.2": must be equal to `hostIP`',
      ]);
    });
  });

  describe('the deletion of a Pod', () => {
    const table: [string, object, string, number | undefined, number][] = [
      ['waits as long as it says', { nodeName: 'n', terminationGracePeriodSeconds: 7 }, 'Running', undefined, 7],
      ['waits as long as asked', { nodeName: 'n' }, 'Running', 5, 5],
      ['comes at once without a node', {}, 'Pending', 5, 0],
      ['comes at once after it has failed', { nodeName: 'n' }, 'Failed', undefined, 0],
      ['is never in the past', { nodeName: 'n', terminationGracePeriodSeconds: -5 }, 'Running', undefined, 1],
    ];
    for (const [name, spec, phase, requested, expected] of table) {
      it(name, () => {
        const made = { ...create(spec), status: { phase } };
        assert.equal(cluster.resource('pods').strategy.gracePeriodSeconds(made, requested), expected);
      });
    }
  });

  describe('the QoS class of a Pod', () => {
    const resources = (requests: object, limits: object): object => ({ resources: { requests, limits } });
    const both = { cpu: '1', memory: '1Gi' };
    const table: [string, object[], string][] = [
      ['nothing', [{}], 'BestEffort'],
      ['nothing worth mentioning', [resources({ cpu: '0' }, {})], 'BestEffort'],
      ['a request', [resources({ cpu: '1' }, {})], 'Burstable'],
      ['equal requests and limits', [resources(both, both)], 'Guaranteed'],
      ['equal amounts in other words', [resources({ cpu: '1000m', memory: '1024Mi' }, both)], 'Guaranteed'],
      ['one container without limits', [resources(both, both), {}], 'Burstable'],
      ['less than its limits', [resources({ cpu: '500m', memory: '1Gi' }, both)], 'Burstable'],
      ['other resources', [resources({ 'a.b/c': '1' }, { 'a.b/c': '1' })], 'BestEffort'],
    ];
    for (const [name, list, expected] of table) {
      it(`with ${name} is ${expected}`, () =>
        assert.equal(
          qosClassOf({
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: {},
            spec: { containers: list },
          } as unknown as KubeObject),
          expected,
        ));
    }
  });

  describe('an image', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const table: [string, boolean][] = [
      ['a', true],
      ['a:latest', true],
      ['a:1', false],
      ['host:5000/a', true],
      ['host:5000/a:1', false],
      [`a@${digest}`, false],
      [`a:latest@${digest}`, true],
      ['A', false],
      ['', false],
      ['ghcr.io/cirruslabs/macos-sonoma-base:latest', true],
    ];
    for (const [image, expected] of table) {
      it(`${JSON.stringify(image)} ${expected ? 'has' : 'does not have'} the tag latest`, () =>
        assert.equal(isLatest(image), expected));
    }
  });
});
