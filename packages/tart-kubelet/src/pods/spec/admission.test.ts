import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labels, labelValues, macTaint } from '@tartan/api';
import type { Pod } from '../snapshot.ts';
import { type Admission, admit, ignoredFields } from './admission.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

const podWith = (spec: Partial<Spec>, container: Partial<Container> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'job', namespace: 'default' },
  spec: { containers: [{ name: 'runner', image: 'ghcr.io/example/macos:26', ...container }], ...spec },
});

const ownedBy = (pod: Pod, ...kinds: string[]): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    ownerReferences: kinds.map((kind) => ({ apiVersion: 'apps/v1', kind, name: 'x', uid: 'u' })),
  },
});
const ofDaemonSet = (spec: Partial<Spec> = {}): Pod => ownedBy(podWith(spec), 'DaemonSet');
const volume = { name: 'data', emptyDir: {} };
const token = { name: 'kube-api-access', projected: { sources: [] } };
const mountOf = ({ name }: { name: string }) => ({ volumeMounts: [{ name, mountPath: '/x' }] });

describe('admission of a Pod', () => {
  const suited: [title: string, pod: Pod][] = [
    ['one container with an image', podWith({})],
    ['a Pod without metadata', { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'a', image: 'x' }] } }],
    ['made for Macs', podWith({ os: { name: labelValues.os }, nodeSelector: { [labels.os]: labelValues.os } })],
    ['selects Nodes by something else', podWith({ nodeSelector: { a: 'linux' } })],
    ['of another owner, which asks for nothing', ownedBy(podWith({}), 'ReplicaSet')],
    ['a DaemonSet that tolerates the taint of Macs by name', ofDaemonSet({ tolerations: [{ key: macTaint.key }] })],
    [
      'a DaemonSet that tolerates that taint among others',
      ofDaemonSet({ tolerations: [{ operator: 'Exists' }, { key: macTaint.key, operator: 'Exists' }] }),
    ],
    ['a DaemonSet that selects the OS of Macs', ofDaemonSet({ nodeSelector: { [labels.os]: labelValues.os } })],
    ['a DaemonSet that selects a runtime', ofDaemonSet({ nodeSelector: { [labels.runtime]: 'x' } })],
    ['a DaemonSet that selects a fleet', ofDaemonSet({ nodeSelector: { [labels.fleet]: 'a' } })],
    ['empty lists', podWith({ initContainers: [], volumes: [] }, { command: [], args: [], volumeDevices: [] })],
    ['a volume that nobody mounts', podWith({ volumes: [volume] })],
    ['a mount of another volume', podWith({ volumes: [volume, token] }, mountOf(token))],
    ['the token that Kubernetes mounts by itself', podWith({ volumes: [token] }, mountOf(token))],
  ];
  for (const [title, pod] of suited) it(`suited: ${title}`, () => assert.deepEqual(admit(pod), { kind: 'suited' }));

  const refused: [title: string, pod: Pod, kind: Admission['kind'], message: RegExp][] = [
    ['spec.os is linux', podWith({ os: { name: 'linux' } }), 'not for Macs', /is made for linux\. Keep it away/],
    [
      'the node selector asks for linux',
      podWith({ nodeSelector: { [labels.os]: 'linux' } }),
      'not for Macs',
      /is made for linux\. Keep it away/,
    ],
    [
      'the node selector asks for linux, and spec.os for Macs',
      podWith({ os: { name: labelValues.os }, nodeSelector: { [labels.os]: 'linux' } }),
      'not for Macs',
      /is made for linux/,
    ],
    [
      'a DaemonSet that tolerates everything',
      ofDaemonSet({ tolerations: [{ operator: 'Exists' }] }),
      'not for Macs',
      new RegExp(`DaemonSet does not ask for Macs.*${labels.os}.*tolerate ${macTaint.key} by name`),
    ],
    ['a DaemonSet that tolerates nothing', ofDaemonSet(), 'not for Macs', /does not ask for Macs/],
    [
      'a DaemonSet among its owners',
      ownedBy(podWith({}), 'ReplicaSet', 'DaemonSet'),
      'not for Macs',
      /does not ask for Macs/,
    ],
    [
      'a DaemonSet Pod with two containers',
      ofDaemonSet({ containers: [{ name: 'a' }, { name: 'b' }] }),
      'not for Macs',
      /does not ask for Macs/,
    ],
    ['no spec', { apiVersion: 'v1', kind: 'Pod' }, 'unsupported', /The Pod has no spec/],
    ['no container', podWith({ containers: [] }), 'unsupported', /this Pod has 0/],
    [
      'two containers',
      podWith({ containers: [{ name: 'a' }, { name: 'b' }] }),
      'unsupported',
      /is one container, and this Pod has 2/,
    ],
    ['init containers', podWith({ initContainers: [{ name: 'i' }] }), 'unsupported', /has no init containers/],
    ['no image', podWith({}, { image: '' }), 'unsupported', /names no image/],
    ['a command', podWith({}, { command: ['sh'] }), 'unsupported', /Take command and args out/],
    ['args', podWith({}, { args: ['-c'] }), 'unsupported', /Take command and args out/],
    [
      'a block device',
      podWith({}, { volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }),
      'unsupported',
      /Take volumeDevices out/,
    ],
    [
      'a mounted volume of the cluster',
      podWith({ volumes: [token, volume] }, mountOf(volume)),
      'unsupported',
      /The volume data cannot be mounted/,
    ],
  ];
  for (const [title, pod, kind, message] of refused)
    it(`${kind}: ${title}`, () => {
      const admission = admit(pod);
      assert.ok(admission.kind !== 'suited');
      assert.equal(admission.kind, kind);
      assert.match(admission.message, message);
    });
});

const probe = { exec: { command: ['true'] } };

describe('fields of a Pod that are ignored', () => {
  const ofSpec: readonly [string, Partial<Spec>][] = [
    ['dnsConfig', { dnsConfig: { nameservers: ['192.0.2.1'] } }],
    ['dnsPolicy', { dnsPolicy: 'None' }],
    ['ephemeralContainers', { ephemeralContainers: [{ name: 'debug' }] }],
    ['hostAliases', { hostAliases: [{ ip: '192.0.2.1', hostnames: ['x'] }] }],
    ['hostIPC', { hostIPC: true }],
    ['hostNetwork', { hostNetwork: true }],
    ['hostPID', { hostPID: true }],
    ['hostUsers', { hostUsers: false }],
    ['hostname', { hostname: 'x' }],
    ['resourceClaims', { resourceClaims: [{ name: 'gpu' }] }],
    ['resources', { resources: { limits: { cpu: '4' } } }],
    ['runtimeClassName', { runtimeClassName: 'x' }],
    ['securityContext', { securityContext: { runAsUser: 501 } }],
    ['setHostnameAsFQDN', { setHostnameAsFQDN: true }],
    ['shareProcessNamespace', { shareProcessNamespace: true }],
    ['subdomain', { subdomain: 'x' }],
  ];
  for (const [field, spec] of ofSpec)
    it(`spec.${field}`, () => assert.deepEqual(ignoredFields(podWith(spec)), [`spec.${field}`]));

  const ofContainer: readonly [string, Partial<Container>][] = [
    ['lifecycle', { lifecycle: { preStop: probe } }],
    ['livenessProbe', { livenessProbe: probe }],
    ['ports[1].hostPort', { ports: [{ containerPort: 1 }, { containerPort: 2, hostPort: 2 }] }],
    ['readinessProbe', { readinessProbe: probe }],
    ['restartPolicy', { restartPolicy: 'Always' }],
    ['securityContext', { securityContext: { privileged: true } }],
    ['startupProbe', { startupProbe: probe }],
    ['stdin', { stdin: true }],
    ['terminationMessagePath', { terminationMessagePath: '/tmp/end' }],
    ['terminationMessagePolicy', { terminationMessagePolicy: 'FallbackToLogsOnError' }],
    ['tty', { tty: true }],
    ['volumeMounts[0].subPath', { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'x' }] }],
    [
      'volumeMounts[1].subPathExpr',
      {
        volumeMounts: [
          { name: 'v', mountPath: '/v' },
          { name: 'w', mountPath: '/w', subPathExpr: 'x' },
        ],
      },
    ],
    ['workingDir', { workingDir: '/tmp' }],
  ];
  for (const [field, container] of ofContainer)
    it(`spec.containers[0].${field}`, () =>
      assert.deepEqual(ignoredFields(podWith({}, container)), [`spec.containers[0].${field}`]));

  it('a Pod with supported fields only has none', () =>
    assert.deepEqual(
      ignoredFields(
        podWith(
          {
            activeDeadlineSeconds: 1,
            dnsPolicy: 'Default',
            hostAliases: [],
            hostUsers: true,
            hostname: '',
            imagePullSecrets: [{ name: 'x' }],
            nodeSelector: { a: 'b' },
            priorityClassName: 'x',
            readinessGates: [{ conditionType: 'x' }],
            restartPolicy: 'OnFailure',
            securityContext: {},
            serviceAccountName: 'x',
            shareProcessNamespace: false,
            terminationGracePeriodSeconds: 1,
            tolerations: [{ operator: 'Exists' }],
          },
          {
            env: [{ name: 'A', value: 'b' }],
            imagePullPolicy: 'Never',
            ports: [{ containerPort: 80, hostPort: 0, protocol: 'TCP' }],
            resources: { limits: { cpu: '4' } },
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
          },
        ),
      ),
      [],
    ));

  it('are listed in order, of every container', () => {
    const containers = [
      { name: 'a', tty: true },
      { name: 'b', tty: true },
    ];
    const pod = podWith({ subdomain: 'x', hostUsers: false, dnsPolicy: 'ClusterFirst', containers });
    assert.deepEqual(ignoredFields(pod), [
      'spec.containers[0].tty',
      'spec.containers[1].tty',
      'spec.hostUsers',
      'spec.subdomain',
    ]);
  });

  it('a Pod without a spec has none', () => assert.deepEqual(ignoredFields({ apiVersion: 'v1', kind: 'Pod' }), []));
});
