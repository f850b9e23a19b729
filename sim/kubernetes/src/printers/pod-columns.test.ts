import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { pods } from './pod-columns.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

interface Given {
  spec?: object;
  status?: object;
  metadata?: object;
}

const pod = ({ spec, status, metadata }: Given): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: ago(8), ...metadata },
  spec: { containers: [{ name: 'a' }], ...spec },
  status: { phase: 'Running', ...status },
});

const two = { containers: [{ name: 'a' }, { name: 'b' }] };
const inits = (count: number): object => ({
  initContainers: Array.from({ length: count }, (_, index) => ({ name: `i${index}` })),
});
const sidecar = { initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] };

const running = { state: { running: {} } };
const up = { ...running, ready: true };
const waiting = (reason?: string): object => ({ state: { waiting: reason === undefined ? {} : { reason } } });
const ended = (terminated: object): object => ({ state: { terminated: { exitCode: 0, ...terminated } } });
const completed = ended({ reason: 'Completed' });
const restarted = (restartCount: number, seconds: number): object => ({
  restartCount,
  lastState: { terminated: { exitCode: 1, finishedAt: ago(seconds) } },
});
const ready = { type: 'Ready', status: 'True' };
const initialized = { type: 'Initialized', status: 'True' };
const deleted = { deletionTimestamp: ago(1) };

// READY, STATUS and RESTARTS, as kube-apiserver 1.36.3 shows the same pods.
const cases: [string, Given, [string, string, string]][] = [
  ['a new pod', { status: { phase: 'Pending' } }, ['0/1', 'Pending', '0']],
  ['a running pod', { status: { containerStatuses: [up] } }, ['1/1', 'Running', '0']],
  [
    'the latest of the restarts',
    {
      spec: two,
      status: {
        containerStatuses: [
          { ...up, ...restarted(2, 4000) },
          { ...running, ...restarted(1, 90_000) },
        ],
      },
    },
    ['1/2', 'Running', '3 (66m ago)'],
  ],
  [
    'restarts at an unknown time',
    { status: { containerStatuses: [{ ...up, restartCount: 2 }] } },
    ['1/1', 'Running', '2'],
  ],
  [
    'a waiting container',
    { status: { containerStatuses: [waiting('CrashLoopBackOff')] } },
    ['0/1', 'CrashLoopBackOff', '0'],
  ],
  [
    'a container that waits without saying why',
    { status: { phase: 'Pending', containerStatuses: [waiting()] } },
    ['0/1', 'Pending', '0'],
  ],
  [
    'the first of two reasons',
    { spec: two, status: { containerStatuses: [waiting('A'), waiting('B')] } },
    ['0/2', 'A', '0'],
  ],
  ['a completed pod', { status: { phase: 'Succeeded', containerStatuses: [completed] } }, ['0/1', 'Completed', '0']],
  [
    'a completed container beside one that runs, and the pod is ready',
    { spec: two, status: { conditions: [ready], containerStatuses: [completed, up] } },
    ['1/2', 'Running', '0'],
  ],
  [
    'a completed container beside one that runs, and the pod is not ready',
    { spec: two, status: { containerStatuses: [completed, up] } },
    ['1/2', 'NotReady', '0'],
  ],
  [
    'a completed container beside one that failed',
    { spec: two, status: { phase: 'Failed', containerStatuses: [completed, ended({ exitCode: 1, reason: 'Error' })] } },
    ['0/2', 'Error', '0'],
  ],
  [
    'an exit code',
    { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 3 })] } },
    ['0/1', 'ExitCode:3', '0'],
  ],
  [
    'a signal',
    { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 137, signal: 9 })] } },
    ['0/1', 'Signal:9', '0'],
  ],
  [
    'a reason to end',
    { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 137, reason: 'OOMKilled' })] } },
    ['0/1', 'OOMKilled', '0'],
  ],
  ['a reason of the pod', { status: { phase: 'Failed', reason: 'Evicted' } }, ['0/1', 'Evicted', '0']],
  [
    'the first init container',
    { spec: inits(3), status: { phase: 'Pending', initContainerStatuses: [running, waiting('PodInitializing')] } },
    ['0/1', 'Init:0/3', '0'],
  ],
  [
    'the second init container',
    {
      spec: inits(3),
      status: {
        phase: 'Pending',
        initContainerStatuses: [{ ...completed, ...restarted(2, 308) }, waiting('PodInitializing')],
      },
    },
    ['0/1', 'Init:1/3', '2 (5m8s ago)'],
  ],
  [
    'an init container that waits',
    { spec: inits(2), status: { phase: 'Pending', initContainerStatuses: [waiting('CrashLoopBackOff')] } },
    ['0/1', 'Init:CrashLoopBackOff', '0'],
  ],
  [
    'an init container that failed',
    { spec: inits(2), status: { phase: 'Pending', initContainerStatuses: [ended({ exitCode: 2 })] } },
    ['0/1', 'Init:ExitCode:2', '0'],
  ],
  [
    'an init container that was stopped',
    { spec: inits(2), status: { phase: 'Pending', initContainerStatuses: [ended({ exitCode: 2, signal: 15 })] } },
    ['0/1', 'Init:Signal:15', '0'],
  ],
  [
    'restarts of init containers, once they are through',
    {
      spec: inits(1),
      status: {
        conditions: [initialized, ready],
        initContainerStatuses: [{ ...completed, ...restarted(7, 300) }],
        containerStatuses: [{ ...up, ...restarted(1, 20_000) }],
      },
    },
    ['1/1', 'Running', '1 (5h33m ago)'],
  ],
  [
    'an init container that runs again',
    {
      spec: inits(2),
      status: {
        conditions: [initialized],
        initContainerStatuses: [{ ...running, restartCount: 7 }],
        containerStatuses: [up],
      },
    },
    ['1/1', 'Init:0/2', '0'],
  ],
  [
    'a sidecar',
    {
      spec: sidecar,
      status: {
        conditions: [initialized],
        initContainerStatuses: [
          { name: 's', ...up, started: true, ...restarted(2, 700) },
          { name: 'i', ...completed, restartCount: 9 },
        ],
        containerStatuses: [up],
      },
    },
    ['2/2', 'Running', '2 (11m ago)'],
  ],
  [
    'a sidecar that starts',
    {
      spec: sidecar,
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 's', ...running },
          { name: 'i', ...waiting('PodInitializing') },
        ],
      },
    },
    ['0/2', 'Init:0/2', '0'],
  ],
  [
    'a sidecar that is up',
    {
      spec: sidecar,
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 's', ...up, started: true },
          { name: 'i', ...waiting('PodInitializing') },
        ],
      },
    },
    ['1/2', 'Init:1/2', '0'],
  ],
  [
    'a gated pod',
    {
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    },
    ['0/1', 'SchedulingGated', '0'],
  ],
  ['a deleted pod', { metadata: deleted }, ['0/1', 'Terminating', '0']],
  ['a deleted pod on a lost node', { metadata: deleted, status: { reason: 'NodeLost' } }, ['0/1', 'Unknown', '0']],
  ['a deleted pod that had ended', { metadata: deleted, status: { phase: 'Succeeded' } }, ['0/1', 'Succeeded', '0']],
];

for (const [name, given, expected] of cases) {
  test(`STATUS, READY and RESTARTS: ${name}`, () => {
    assert.deepEqual(pods.cells(pod(given), now).slice(1, 4), expected);
  });
}

test('-o wide shows IP and node of a pod', () => {
  const given = pod({
    spec: { nodeName: 'n', readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] },
    status: { podIPs: [{ ip: '10.0.0.1' }], nominatedNodeName: 'm', conditions: [{ type: 'x', status: 'True' }] },
  });
  assert.deepEqual(pods.cells(given, now).slice(4), ['8s', '10.0.0.1', 'n', 'm', '1/2']);
  assert.deepEqual(pods.cells(pod({}), now).slice(4), ['8s', '<none>', '<none>', '<none>', '<none>']);
});

test('a finished pod is marked as completed', () => {
  assert.deepEqual(pods.conditions?.(pod({})), []);
  assert.deepEqual(pods.conditions?.(pod({ status: { phase: 'Failed' } })), [
    { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
  ]);
});
