import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { editDistance, nearestTo } from './nearest-flag.ts';

const names = [
  'metrics-bind-address',
  'leader-elect',
  'leader-election-namespace',
  'leader-elect-lease-duration',
  'machine-max-concurrent-reconciles',
  'default-adopt-pool-prefix',
  'orphan-reclaim-zones',
  'orphan-reclaim-interval',
  'orphan-reclaim-claim-name-prefix',
  'tart-tarball-path',
];

describe('the nearest flag', () => {
  const distances: [a: string, b: string, distance: number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['elect', 'elcet', 1],
    ['elect', 'elct', 1],
    ['elect', 'eleect', 1],
    ['ab', 'ba', 1],
  ];
  for (const [a, b, distance] of distances) {
    test(`"${a}" and "${b}" are ${distance} apart`, () => assert.equal(editDistance(a, b), distance));
  }

  const mistyped: [given: string, meant: string][] = [
    ['leader-elct', 'leader-elect'],
    ['TART_TARBALL_PATH', 'tart-tarball-path'],
    ['leader_election_namespace', 'leader-election-namespace'],
    ['Orphan-Reclaim-Zone', 'orphan-reclaim-zones'],
    ['orphan-reclaim-claim-prefix', 'orphan-reclaim-claim-name-prefix'],
    ['adopt-pool-prefix', 'default-adopt-pool-prefix'],
    ['max-concurrent-reconciles', 'machine-max-concurrent-reconciles'],
    ['metrics-addr', 'metrics-bind-address'],
  ];
  for (const [given, meant] of mistyped) {
    test(`--${given} means --${meant}`, () => assert.equal(nearestTo(given, names), meant));
  }

  test('distances are the same both ways, and 0 only to itself', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        assert.equal(editDistance(a, b), editDistance(b, a));
        assert.equal(editDistance(a, b) === 0, a === b);
      }),
    );
  });
});
