import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetSizes } from './fleet-sizes.ts';

const cases: readonly [
  machines: number,
  builders: number | undefined,
  sizes: readonly [macos: number, runners: number, builders: number],
][] = [
  [1, undefined, [1, 0, 0]],
  [2, undefined, [1, 1, 0]],
  [3, undefined, [1, 1, 1]],
  [4, undefined, [2, 1, 1]],
  [6, undefined, [3, 2, 1]],
  [4, 0, [2, 2, 0]],
  [2, 1, [1, 0, 1]],
  [1, 1, [1, 0, 0]],
];
for (const [machines, wanted, [macos, runners, builders]] of cases)
  test(`${machines} machines${wanted === undefined ? '' : `, ${wanted} of them a builder`}: ${macos}, ${runners} and ${builders}`, () =>
    assert.deepEqual(fleetSizes({ machines, hosts: 'simulated', ...(wanted !== undefined && { builders: wanted }) }), {
      macos,
      runners,
      builders,
    }));

test('played hosts are all in the first fleet', () =>
  assert.deepEqual(fleetSizes({ machines: 50, hosts: 'played' }), { macos: 50, runners: 0, builders: 0 }));

test('a played builder is refused with the reason and what to do', () =>
  assert.throws(
    () => fleetSizes({ machines: 3, hosts: 'played', builders: 1 }),
    /played hosts run nothing\. Leave --builders out/,
  ));
