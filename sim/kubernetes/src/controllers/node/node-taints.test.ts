import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, Node, Taint } from '../runtime/objects.ts';
import { conditionTaints, evictionTaint, reconcileLabels, swapTaints } from './node-taints.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const timeAdded = '2026-01-01T00:00:00Z';
const own: Taint = { key: 'mine', effect: 'NoSchedule' };
const noSchedule = (name: string): Taint => ({ key: `node.kubernetes.io/${name}`, effect: 'NoSchedule' });
const condition = (type: string, status: string): Condition => ({ type, status });

const node = (taints: Taint[], conditions: Condition[], unschedulable = false): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: timeAdded },
  spec: { taints, ...(unschedulable ? { unschedulable } : {}) },
  status: { conditions },
});

const table: [string, Node, Taint[] | undefined][] = [
  ['ready and untainted', node([own], [condition('Ready', 'True')]), undefined],
  ['not ready', node([own], [condition('Ready', 'False')]), [own, { ...noSchedule('not-ready'), timeAdded }]],
  ['unknown', node([], [condition('Ready', 'Unknown')]), [{ ...noSchedule('unreachable'), timeAdded }]],
  [
    'from not ready to unknown',
    node([noSchedule('not-ready'), own], [condition('Ready', 'Unknown')]),
    [own, { ...noSchedule('unreachable'), timeAdded }],
  ],
  ['ready again', node([noSchedule('not-ready'), own], [condition('Ready', 'True')]), [own]],
  ['tainted already', node([noSchedule('not-ready')], [condition('Ready', 'False')]), undefined],
  [
    'pressure',
    node(
      [],
      [condition('MemoryPressure', 'True'), condition('DiskPressure', 'True'), condition('PIDPressure', 'True')],
    ),
    ['memory-pressure', 'disk-pressure', 'pid-pressure'].map((name) => ({ ...noSchedule(name), timeAdded })),
  ],
  ['pressure of unknown extent', node([], [condition('MemoryPressure', 'Unknown')]), undefined],
  [
    'no network',
    node([], [condition('NetworkUnavailable', 'True')]),
    [{ ...noSchedule('network-unavailable'), timeAdded }],
  ],
  ['cordoned', node([], [], true), [{ ...noSchedule('unschedulable'), timeAdded }]],
  ['uncordoned', node([noSchedule('unschedulable')], []), []],
  [
    'NoExecute is another matter',
    node([{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }], [condition('Ready', 'True')]),
    undefined,
  ],
];
for (const [name, seen, expected] of table) {
  test(`taints that follow conditions: ${name}`, () => assert.deepEqual(conditionTaints(seen, now), expected));
}

test('a Node has either the unreachable or the not-ready NoExecute taint, never both', () => {
  const silent = evictionTaint('Unknown');
  assert.equal(silent.add.key, 'node.kubernetes.io/unreachable');
  const tainted = swapTaints([], [silent.add], [silent.remove], now) ?? [];
  const unready = evictionTaint('False');
  assert.deepEqual(swapTaints(tainted, [unready.add], [unready.remove], now), [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded },
  ]);
});

test('old label names follow the new ones, also when they disagree', () => {
  const labels = { 'kubernetes.io/os': 'darwin', 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'x' };
  const followed = reconcileLabels(labels);
  assert.deepEqual(followed, { ...labels, 'beta.kubernetes.io/os': 'darwin', 'beta.kubernetes.io/arch': 'arm64' });
  assert.equal(reconcileLabels(followed ?? {}), undefined);
  assert.equal(reconcileLabels({ 'beta.kubernetes.io/os': 'x' }), undefined);
});
