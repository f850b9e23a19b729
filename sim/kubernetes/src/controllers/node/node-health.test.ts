import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, Node } from '../runtime/objects.ts';
import { type Health, isStale, observeHealth, unknownConditions } from './node-health.ts';

const created = '2026-01-01T00:00:00Z';
const start = Date.parse(created);
const ready = (heartbeat: string, status = 'True'): Condition => ({
  type: 'Ready',
  status,
  lastHeartbeatTime: heartbeat,
});
const node = (...conditions: Condition[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: created },
  spec: {},
  status: { conditions },
});
const later = start + 100_000;

const signs: [string, Health | undefined, Node, string | undefined, number][] = [
  ['a Node without status counts from its creation', undefined, node(), undefined, start],
  ['a Node with status that is seen first counts from now', undefined, node(ready(created)), undefined, later],
  [
    'the same heartbeat is no sign',
    { lastSeen: 7, ready: ready(created), renewTime: undefined },
    node(ready(created)),
    undefined,
    7,
  ],
  [
    'another heartbeat is one',
    { lastSeen: 7, ready: ready(created), renewTime: undefined },
    node(ready('x')),
    undefined,
    later,
  ],
  [
    'the first status is one',
    { lastSeen: 7, ready: undefined, renewTime: undefined },
    node(ready(created)),
    undefined,
    later,
  ],
  [
    'the first Lease is one',
    { lastSeen: 7, ready: ready(created), renewTime: undefined },
    node(ready(created)),
    created,
    later,
  ],
  [
    'the same Lease is none',
    { lastSeen: 7, ready: ready(created), renewTime: created },
    node(ready(created)),
    created,
    7,
  ],
  [
    'a renewed Lease is one, by the microsecond',
    { lastSeen: 7, ready: undefined, renewTime: '2026-01-01T00:00:00.000000Z' },
    node(),
    '2026-01-01T00:00:00.001000Z',
    later,
  ],
  [
    'a Lease that goes back in time is none',
    { lastSeen: 7, ready: undefined, renewTime: '2026-01-01T00:00:01Z' },
    node(),
    created,
    7,
  ],
  ['a Lease that vanishes is none', { lastSeen: 7, ready: undefined, renewTime: created }, node(), undefined, 7],
];
for (const [name, before, seen, renewTime, expected] of signs) {
  test(`heartbeats: ${name}`, () => assert.equal(observeHealth(before, seen, renewTime, later).lastSeen, expected));
}

test('a Lease that is recreated without a renewal is no heartbeat', () => {
  const first = observeHealth(undefined, node(), created, start);
  const without = observeHealth(first, node(), undefined, start + 1);
  assert.equal(observeHealth(without, node(), created, later).lastSeen, start);
});

test('a Node is stale after 50 seconds, and after 60 if it never posted a status', () => {
  const table: [Condition | undefined, number, boolean][] = [
    [ready(created), 50_000, false],
    [ready(created), 50_001, true],
    [undefined, 60_000, false],
    [undefined, 60_001, true],
  ];
  for (const [condition, silence, expected] of table) {
    assert.equal(
      isStale({ lastSeen: start, ready: condition, renewTime: undefined }, start + silence),
      expected,
      String(silence),
    );
  }
});

test('the conditions of a Node without heartbeats become Unknown, missing ones are added, others stay', () => {
  const network = { type: 'NetworkUnavailable', status: 'False' };
  const said = { status: 'Unknown', lastTransitionTime: '2026-01-01T00:01:40Z' };
  const stopped = { ...said, reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const never = {
    ...said,
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: created,
  };
  assert.deepEqual(unknownConditions(node(network, ready('h'), { type: 'DiskPressure', status: 'False' }), later), [
    network,
    { type: 'Ready', lastHeartbeatTime: 'h', ...stopped },
    { type: 'DiskPressure', ...stopped },
    { type: 'MemoryPressure', ...never },
    { type: 'PIDPressure', ...never },
  ]);
});

test('a condition that is already Unknown is kept', () => {
  assert.equal(unknownConditions(node(ready(created, 'Unknown')), later), undefined);
});
