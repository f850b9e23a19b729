import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { Node } from '../runtime/objects.ts';
import { disruption, evictionRateLimiter } from './zone-disruption.ts';

const nodes = (zone: string, ready: number, unready: number, labels: Record<string, string> = {}): Node[] =>
  Array.from({ length: ready + unready }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `${zone}-${index}`,
      uid: `${zone}-${index}`,
      resourceVersion: '1',
      creationTimestamp: '',
      labels: { 'topology.kubernetes.io/zone': zone, ...labels },
    },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: index < ready ? 'True' : 'Unknown' }] },
  }));

const table: [string, Node[], boolean, Record<string, number>][] = [
  ['all well', nodes('a', 2, 0), false, { a: 0.1 }],
  ['a single Node that is silent: nobody is put off', nodes('a', 0, 1), true, { a: 0 }],
  ['one of two', nodes('a', 1, 1), false, { a: 0.1 }],
  ['two of three are too few to be careful', nodes('a', 1, 2), false, { a: 0.1 }],
  ['three of five: nobody is put off in a small zone', nodes('a', 2, 3), false, { a: 0 }],
  ['three of six are below the share', nodes('a', 3, 3), false, { a: 0.1 }],
  ['in a large zone it goes on slowly', nodes('a', 20, 31), false, { a: 0.01 }],
  ['one zone is silent, another is not', [...nodes('a', 0, 2), ...nodes('b', 1, 0)], false, { a: 0.1, b: 0.1 }],
  ['all zones are silent', [...nodes('a', 0, 2), ...nodes('b', 0, 1)], true, { a: 0, b: 0 }],
  [
    'Nodes that ask not to be counted are not',
    [...nodes('a', 0, 1), ...nodes('a', 1, 0, { 'node.kubernetes.io/exclude-disruption': '' })],
    true,
    { a: 0 },
  ],
  [
    'a cluster of such Nodes only is no reason for care',
    nodes('a', 0, 1, { 'node.kubernetes.io/exclude-disruption': '' }),
    false,
    { a: 0.1 },
  ],
  ['no Nodes at all', [], false, {}],
];
for (const [name, all, everywhere, rates] of table) {
  test(`disruption: ${name}`, () => {
    const found = disruption(all);
    assert.equal(found.allZonesDown, everywhere);
    assert.deepEqual(
      Object.fromEntries([...found.rates].map(([zone, rate]) => [zone.replace(':\0:', ''), rate])),
      rates,
    );
  });
}

test('the first eviction is allowed at once, the next after the interval', () => {
  const clock = manualClock();
  const evictions = evictionRateLimiter(clock);
  evictions.setRate(0.1);
  assert.equal(evictions.take(), true);
  clock.advance(9_999);
  assert.equal(evictions.take(), false);
  clock.advance(1);
  assert.equal(evictions.take(), true);
});

test('a rate of zero allows no eviction, and the next rate starts with a wait', () => {
  const clock = manualClock();
  const evictions = evictionRateLimiter(clock);
  evictions.setRate(0.1);
  evictions.setRate(0);
  clock.advance(100_000);
  assert.equal(evictions.take(), false);
  evictions.setRate(0.1);
  assert.equal(evictions.take(), false);
  clock.advance(10_000);
  assert.equal(evictions.take(), true);
});

test('setting the same rate again does not start the wait anew', () => {
  const clock = manualClock();
  const evictions = evictionRateLimiter(clock);
  evictions.setRate(0.1);
  evictions.take();
  clock.advance(5_000);
  evictions.setRate(0.1);
  clock.advance(5_000);
  assert.equal(evictions.take(), true);
});
