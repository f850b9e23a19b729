import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nearestName } from './nearest-name.ts';

const flags = [
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
const incidents = ['fleet-wide-roll', 'stuck-pods', 'stranded-hosts', 'host-wiped'];

const mistyped: readonly [names: readonly string[], given: string, meant: string][] = [
  [flags, 'leader-elct', 'leader-elect'],
  [flags, 'TART_TARBALL_PATH', 'tart-tarball-path'],
  [flags, 'leader_election_namespace', 'leader-election-namespace'],
  [flags, 'Orphan-Reclaim-Zone', 'orphan-reclaim-zones'],
  [flags, 'orphan-reclaim-claim-prefix', 'orphan-reclaim-claim-name-prefix'],
  [flags, 'adopt-pool-prefix', 'default-adopt-pool-prefix'],
  [flags, 'max-concurrent-reconciles', 'machine-max-concurrent-reconciles'],
  [flags, 'metrics-addr', 'metrics-bind-address'],
  [incidents, 'stuck-pod', 'stuck-pods'],
  [incidents, 'Stuck_Pods', 'stuck-pods'],
  [incidents, 'roll', 'fleet-wide-roll'],
  [incidents, 'stranded', 'stranded-hosts'],
  [incidents, 'wiped', 'host-wiped'],
];

describe('the nearest name', () => {
  for (const [names, given, meant] of mistyped)
    test(`${given} means ${meant}`, () => assert.equal(nearestName(given, names), meant));

  test('is undefined where there are no names', () => assert.equal(nearestName('x', []), undefined));
});
