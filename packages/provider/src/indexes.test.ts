import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels, machine as machineKind, type MachineStatus } from '@tartan/api';
import { heldBy, hostWith } from './claim/testing/hosts.ts';
import type { Machine } from './controller-deps.ts';
import { hardwareKey, listerOf, machineIndexes, macHostIndexes } from './indexes.ts';

const machineWith = (name: string, metadata: object = {}, status: MachineStatus = {}, fleetName = ''): Machine => ({
  ...machineKind.make({
    metadata: { name },
    spec: { zone: 'z', type: 'M2-L', os: 'Tahoe', ...(fleetName && { fleetName }) },
  }),
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '', ...metadata },
  status,
});

test('a machine is found by all that refers to it', () => {
  const machines = listerOf(
    [
      machineWith('a', { labels: { [labels.clusterName]: 'c' } }, { serverID: 's' }, 'f'),
      machineWith('b', {}, {}, 'f'),
      machineWith('b', { namespace: 'other', uid: 'u' }),
      machineWith('d', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ],
    machineIndexes,
  );
  const found = (...[index, value]: Parameters<typeof machines.byIndex>): string[] =>
    machines.byIndex(index, value).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  const table: [...Parameters<typeof machines.byIndex>, expected: string[]][] = [
    ['uid', 'uid-a', ['ns/a']],
    ['name', 'b', ['ns/b', 'other/b']],
    ['fleet', 'ns/f', ['ns/a', 'ns/b']],
    ['fleet', 'other/b', ['other/b']],
    ['serverID', 's', ['ns/a']],
    ['cluster', 'ns/c', ['ns/a']],
    ['sshKey', 'f', ['ns/a', 'ns/b']],
    ['sshKey', 'other-b', ['other/b']],
    ['withoutHost', hardwareKey('z', 'M2-L'), ['ns/b', 'other/b']],
    ['withoutHost', hardwareKey('y', 'M2-L'), []],
  ];
  for (const [index, value, expected] of table) assert.deepEqual(found(index, value), expected, `${index} ${value}`);
});

test('a Mac is found by its holder, its name at Scaleway, and what it can be claimed or reinstalled for', () => {
  const release = { poolPrefix: 'p-', reason: 'MachineDeleted', requestedAt: '2026-01-01T00:00:00Z' } as const;
  const hosts = listerOf(
    [
      hostWith('free', { status: { name: 'p-1' } }),
      hostWith('held', { spec: { consumerRef: heldBy('m', 'uid-m') }, status: { state: 'held', name: 'm' } }),
      // Claimed, and not looked at since.
      hostWith('taken', { spec: { consumerRef: heldBy('n', 'uid-n') } }),
      hostWith('back', { spec: { release }, status: { state: 'releasing' } }),
      hostWith('lost', { status: { state: 'stranded' } }),
    ],
    macHostIndexes,
  );
  const { zone } = hosts.list()[0]?.spec ?? { zone: '' };
  const found = (...[index, value]: Parameters<typeof hosts.byIndex>): string[] =>
    hosts.byIndex(index, value).map(({ metadata }) => metadata.name);
  assert.deepEqual(found('consumer', 'uid-m'), ['held']);
  assert.deepEqual(found('serverName', 'm'), ['held']);
  assert.deepEqual(found('state', 'stranded'), ['lost']);
  assert.deepEqual(found('pool', hardwareKey(zone, 'M2-L')), ['free']);
  assert.deepEqual(found('releasing', hardwareKey(zone, 'M2-L')), ['back']);
});
