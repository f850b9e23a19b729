import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, KubeObject } from '../object.ts';
import { builtinColumns } from './builtin-columns.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

const object = (fields: Record<string, unknown>, metadata: object = {}): KubeObject => ({
  apiVersion: '',
  kind: '',
  metadata: { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T23:59:54Z', ...metadata },
  ...fields,
});

const workload = {
  selector: {
    matchLabels: { b: '1', a: '2' },
    matchExpressions: [
      { key: 'ab', operator: 'In', values: ['z', 'y'] },
      { key: 'q', operator: 'Exists' },
      { key: 'nq', operator: 'DoesNotExist' },
      { key: 'w', operator: 'NotIn', values: ['1'] },
    ],
  },
  template: {
    spec: {
      containers: [
        { name: 'c1', image: 'i1' },
        { name: 'c2', image: 'i2' },
      ],
      nodeSelector: { z: '1', y: '2' },
    },
  },
};
const wide = ['c1,c2', 'i1,i2', 'a=2,ab in (y,z),b=1,!nq,q,w notin (1)'];

const nodeInfo = {
  kubeletVersion: 'v1.36.3',
  osImage: 'macOS 26',
  kernelVersion: '25.0',
  architecture: 'arm64',
  containerRuntimeVersion: 'tart://2',
};
const roles = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/a': 'x', 'kubernetes.io/role': 'z' };

const event = { involvedObject: { kind: 'Pod', name: 'p' }, type: 'Normal', reason: 'R', message: ' hello\n' };
const modern = { regarding: { kind: 'Pod', name: 'p' }, type: 'Normal', reason: 'R', note: ' hello\n' };

const request = (conditions: string[], certificate = '', expirationSeconds?: number): Record<string, unknown> => ({
  spec: { signerName: 's', username: 'u', ...(expirationSeconds === undefined ? {} : { expirationSeconds }) },
  status: { conditions: conditions.map((type) => ({ type })), certificate },
});

const service = (spec: object, ingress: object[] = []): Record<string, unknown> => ({
  spec,
  status: { loadBalancer: { ingress } },
});

const subjects = [
  { kind: 'User', name: 'u1' },
  { kind: 'User', name: 'u2' },
  { kind: 'Group', name: 'g' },
  { kind: 'ServiceAccount', namespace: 'ns', name: 'sa' },
];

// Cells of such objects in kube-apiserver 1.36.3.
const cases: [string, KubeObject, Json[]][] = [
  ['namespaces', object({ status: { phase: 'Active' } }), ['x', 'Active', '6s']],
  ['secrets', object({ type: 'Opaque', data: { a: '', b: '' } }), ['x', 'Opaque', 2, '6s']],
  ['configmaps', object({ data: { a: '' }, binaryData: { b: '' } }), ['x', 2, '6s']],
  ['configmaps', object({}), ['x', 0, '6s']],
  ['serviceaccounts', object({}), ['x', '6s']],
  ['leases.coordination.k8s.io', object({ spec: { holderIdentity: 'me' } }), ['x', 'me', '6s']],
  ['leases.coordination.k8s.io', object({ spec: {} }), ['x', '', '6s']],
  ['roles.rbac.authorization.k8s.io', object({}), ['x', '2026-01-01T23:59:54Z']],
  ['clusterroles.rbac.authorization.k8s.io', object({}), ['x', '2026-01-01T23:59:54Z']],
  ['customresourcedefinitions.apiextensions.k8s.io', object({}), ['x', '2026-01-01T23:59:54Z']],
  [
    'rolebindings.rbac.authorization.k8s.io',
    object({ roleRef: { kind: 'Role', name: 'r' }, subjects }),
    ['x', 'Role/r', '6s', 'u1, u2', 'g', 'ns/sa'],
  ],
  [
    'clusterrolebindings.rbac.authorization.k8s.io',
    object({ roleRef: { kind: 'ClusterRole', name: 'r' } }),
    ['x', 'ClusterRole/r', '6s', '', '', ''],
  ],
  [
    'nodes',
    object({}),
    ['x', 'Unknown', '<none>', '6s', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
  ],
  [
    'nodes',
    object({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }], nodeInfo: { architecture: 'arm64' } } }),
    ['x', 'NotReady', '<none>', '6s', '', '<none>', '<none>', '<unknown>', '<unknown> (arm64)', '<unknown>'],
  ],
  [
    'nodes',
    object(
      {
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [
            { type: 'Hostname', address: 'h' },
            { type: 'InternalIP', address: '1.2.3.4' },
            { type: 'ExternalIP', address: '5.6.7.8' },
          ],
          nodeInfo,
        },
      },
      { labels: roles },
    ),
    [
      'x',
      'Ready,SchedulingDisabled',
      'a,worker,z',
      '6s',
      'v1.36.3',
      '1.2.3.4',
      '5.6.7.8',
      'macOS 26',
      '25.0 (arm64)',
      'tart://2',
    ],
  ],
  [
    'events',
    object({
      ...event,
      firstTimestamp: ago(1006),
      lastTimestamp: ago(106),
      count: 3,
      source: { component: 'kubelet', host: 'n1' },
    }),
    ['106s', 'Normal', 'R', 'pod/p', '', 'kubelet, n1', 'hello', '16m', 3, 'x'],
  ],
  [
    'events',
    object({ ...event, firstTimestamp: ago(1006) }),
    ['16m', 'Normal', 'R', 'pod/p', '', '', 'hello', '16m', 1, 'x'],
  ],
  [
    'events',
    object({ ...event, involvedObject: { kind: 'Node', fieldPath: 'spec.x' }, source: { component: 'c' } }),
    ['<unknown>', 'Normal', 'R', 'node', 'spec.x', 'c', 'hello', '<unknown>', 1, 'x'],
  ],
  [
    'events.events.k8s.io',
    object({
      ...modern,
      eventTime: ago(506),
      reportingController: 'rc',
      reportingInstance: 'ri',
      series: { count: 7, lastObservedTime: ago(306) },
    }),
    ['5m6s', 'Normal', 'R', 'pod/p', '', 'rc, ri', 'hello', '8m26s', 7, 'x'],
  ],
  [
    'events.events.k8s.io',
    object({
      ...modern,
      deprecatedFirstTimestamp: ago(1006),
      deprecatedLastTimestamp: ago(106),
      deprecatedCount: 3,
      deprecatedSource: { component: 'kubelet' },
    }),
    ['106s', 'Normal', 'R', 'pod/p', '', 'kubelet', 'hello', '16m', 3, 'x'],
  ],
  ['certificatesigningrequests.certificates.k8s.io', object(request([])), ['x', '6s', 's', 'u', '<none>', 'Pending']],
  [
    'certificatesigningrequests.certificates.k8s.io',
    object(request(['Approved'], 'PEM', 3600)),
    ['x', '6s', 's', 'u', '60m', 'Approved,Issued'],
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    object(request(['Approved', 'Failed'], '', 86_400)),
    ['x', '6s', 's', 'u', '24h', 'Approved,Failed'],
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    object(request(['Approved', 'Denied'])),
    ['x', '6s', 's', 'u', '<none>', 'Denied'],
  ],
  [
    'deployments.apps',
    object({
      spec: { replicas: 3, ...workload },
      status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
    }),
    ['x', '1/3', 2, 1, '6s', ...wide],
  ],
  [
    'replicasets.apps',
    object({ spec: { replicas: 3, ...workload }, status: { replicas: 2, readyReplicas: 1 } }),
    ['x', 3, 2, 1, '6s', ...wide],
  ],
  [
    'daemonsets.apps',
    object({
      spec: workload,
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    }),
    ['x', 5, 4, 3, 2, 1, 'y=2,z=1', '6s', ...wide],
  ],
  [
    'services',
    object(
      service({
        type: 'ClusterIP',
        clusterIPs: ['10.0.0.1'],
        externalIPs: ['1.2.3.4'],
        selector: { b: '1', a: '2' },
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      }),
    ),
    ['x', 'ClusterIP', '10.0.0.1', '1.2.3.4', '80/TCP,53/UDP', '6s', 'a=2,b=1'],
  ],
  [
    'services',
    object(service({ type: 'ClusterIP', clusterIPs: ['None'] })),
    ['x', 'ClusterIP', 'None', '<none>', '<none>', '6s', '<none>'],
  ],
  [
    'services',
    object(service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_200, protocol: 'TCP' }] })),
    ['x', 'NodePort', '<none>', '<none>', '80:30200/TCP', '6s', '<none>'],
  ],
  [
    'services',
    object(service({ type: 'LoadBalancer' })),
    ['x', 'LoadBalancer', '<none>', '<pending>', '<none>', '6s', '<none>'],
  ],
  [
    'services',
    object(
      service({ type: 'LoadBalancer', externalIPs: ['9.9.9.9'] }, [
        { ip: '2.2.2.2' },
        { hostname: 'a.example.com' },
        { ip: '1.1.1.1' },
      ]),
    ),
    ['x', 'LoadBalancer', '<none>', '1.1.1.1,2.2.2.2,a.example.com,9.9.9.9', '<none>', '6s', '<none>'],
  ],
  [
    'services',
    object(service({ type: 'ExternalName', externalName: 'x.example.com' })),
    ['x', 'ExternalName', '<none>', 'x.example.com', '<none>', '6s', '<none>'],
  ],
];

for (const [kind, given, expected] of cases) {
  test(`a row of ${kind}: ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(builtinColumns[kind]?.cells(given, now), expected);
  });
}

// Names, followed by what is not the default: the format of `Name`, other types, `wide` for priority 1.
const headers: Record<string, string> = {
  configmaps: 'Name:name, Data, Age',
  events:
    'Last Seen, Type, Reason, Object, Subobject wide, Source wide, Message, First Seen wide, Count wide, Name:name wide',
  namespaces: 'Name:name, Status, Age',
  nodes:
    'Name:name, Status, Roles, Age, Version, Internal-IP wide, External-IP wide, OS-Image wide, Kernel-Version wide, Container-Runtime wide',
  pods: 'Name:name, Ready, Status, Restarts, Age, IP wide, Node wide, Nominated Node wide, Readiness Gates wide',
  secrets: 'Name:name, Type, Data, Age',
  serviceaccounts: 'Name:name, Age',
  services: 'Name:name, Type, Cluster-IP, External-IP, Port(s), Age, Selector wide',
  'certificatesigningrequests.certificates.k8s.io':
    'Name:name, Age, SignerName, Requestor, RequestedDuration, Condition',
  'clusterrolebindings.rbac.authorization.k8s.io':
    'Name:name, Role, Age, Users wide, Groups wide, ServiceAccounts wide',
  'clusterroles.rbac.authorization.k8s.io': 'Name:name, Created At (date)',
  'customresourcedefinitions.apiextensions.k8s.io': 'Name:name, Created At (date)',
  'daemonsets.apps':
    'Name:name, Desired (integer), Current (integer), Ready (integer), Up-to-date (integer), Available (integer), Node Selector, Age, Containers wide, Images wide, Selector wide',
  'deployments.apps': 'Name:name, Ready, Up-to-date, Available, Age, Containers wide, Images wide, Selector wide',
  'events.events.k8s.io':
    'Last Seen, Type, Reason, Object, Subobject wide, Source wide, Message, First Seen wide, Count wide, Name:name wide',
  'leases.coordination.k8s.io': 'Name:name, Holder, Age',
  'replicasets.apps':
    'Name:name, Desired (integer), Current (integer), Ready (integer), Age, Containers wide, Images wide, Selector wide',
  'rolebindings.rbac.authorization.k8s.io': 'Name:name, Role, Age, Users wide, Groups wide, ServiceAccounts wide',
  'roles.rbac.authorization.k8s.io': 'Name:name, Created At (date)',
};

for (const [kind, columns] of Object.entries(builtinColumns)) {
  test(`the columns of ${kind} are those of the real server`, () => {
    const shown = columns.definitions.map(
      ({ name, type, format, priority }) =>
        `${name}${format === '' ? '' : `:${format}`}${type === 'string' ? '' : ` (${type})`}${priority === 1 ? ' wide' : ''}`,
    );
    assert.equal(shown.join(', '), headers[kind]);
  });

  test(`a row of ${kind} has one cell per column, even for a bookmark`, () => {
    const bookmark = JSON.parse('{"apiVersion":"","kind":"","metadata":{"resourceVersion":"5"}}');
    assert.equal(columns.cells(bookmark, now).length, columns.definitions.length);
  });
}
