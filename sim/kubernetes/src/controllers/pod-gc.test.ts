import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweep } from './pod-gc.ts';
import type { Node, Pod } from './runtime/objects.ts';

const metadata = { uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const pod = (name: string, nodeName: string | undefined, deleted = false): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, name, ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  spec: nodeName === undefined ? {} : { nodeName },
});
const node = (name: string, ready: string, ...taints: string[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { ...metadata, name },
  spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const outOfService = 'node.kubernetes.io/out-of-service';

const table: [
  string,
  Pod[],
  Node[],
  Record<string, number>,
  { orphaned: string[]; abandoned: string[]; missing: Record<string, number> },
][] = [
  ['a Pod on its Node', [pod('p', 'n')], [node('n', 'True')], {}, { orphaned: [], abandoned: [], missing: {} }],
  ['a Pod that waits for a Node', [pod('p', undefined)], [], {}, { orphaned: [], abandoned: [], missing: {} }],
  ['its Node is missing since now', [pod('p', 'n')], [], {}, { orphaned: [], abandoned: [], missing: { n: 41_000 } }],
  [
    'its Node is missing, but not for long',
    [pod('p', 'n')],
    [],
    { n: 1_001 },
    { orphaned: [], abandoned: [], missing: { n: 1_001 } },
  ],
  [
    'its Node is missing for too long',
    [pod('p', 'n')],
    [],
    { n: 1_000 },
    { orphaned: ['p'], abandoned: [], missing: { n: 1_000 } },
  ],
  [
    'its Node has come back',
    [pod('p', 'n')],
    [node('n', 'True')],
    { n: 0 },
    { orphaned: [], abandoned: [], missing: {} },
  ],
  ['deleted before it was bound', [pod('p', undefined, true)], [], {}, { orphaned: [], abandoned: ['p'], missing: {} }],
  [
    'deleted on a Node that works',
    [pod('p', 'n', true)],
    [node('n', 'True', outOfService)],
    {},
    { orphaned: [], abandoned: [], missing: {} },
  ],
  [
    'deleted on a Node that is silent',
    [pod('p', 'n', true)],
    [node('n', 'Unknown')],
    {},
    { orphaned: [], abandoned: [], missing: {} },
  ],
  [
    'deleted on a Node out of service',
    [pod('p', 'n', true)],
    [node('n', 'Unknown', outOfService)],
    {},
    { orphaned: [], abandoned: ['p'], missing: {} },
  ],
  [
    'alive on a Node out of service',
    [pod('p', 'n')],
    [node('n', 'Unknown', outOfService)],
    {},
    { orphaned: [], abandoned: [], missing: {} },
  ],
];
for (const [name, pods, nodes, missing, expected] of table) {
  test(`sweep: ${name}`, () => {
    const found = sweep(pods, nodes, new Map(Object.entries(missing)), 1_000);
    const names = (list: Pod[]) => list.map((entry) => entry.metadata.name);
    assert.deepEqual(
      {
        orphaned: names(found.orphaned),
        abandoned: names(found.abandoned),
        missing: Object.fromEntries(found.missing),
      },
      expected,
    );
  });
}
