import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Facts } from '../facts/host-facts.ts';
import { conditionStates, diskPressure, memoryPressure, pidPressure } from './conditions.ts';
import { exampleFacts } from './testing/fixtures.ts';

describe('the condition VMStart', () => {
  const conditionFor = (vmStart: Facts['vmStart']) => {
    const { vmStart: _none, ...others } = exampleFacts;
    const claim = conditionStates({ ...others, ...(vmStart && { vmStart }) }).find(({ type }) => type === 'VMStart');
    return [claim?.status, claim?.reason, claim?.message];
  };
  test('is Unknown without facts', () => assert.deepEqual(conditionFor(undefined).slice(0, 2), ['Unknown', 'NotRead']));
  test('is True when starts are not refused', () =>
    assert.deepEqual(conditionFor({ kind: 'works' }).slice(0, 2), ['True', 'NotRefused']));
  test('is False when starts are refused, with the error of tart and what to do', () => {
    const [status, reason, message] = conditionFor({
      kind: 'refused',
      message: `${'x'.repeat(9999)}\nfailed to start`,
    });
    assert.deepEqual([status, reason], ['False', 'StartsRefused']);
    assert.match(
      message ?? '',
      /^Virtual machines do not start on this Mac: …x+ failed to start\. .*restart the Mac\.$/,
    );
    assert.ok((message ?? '').length < 1024);
  });
  test('is False when slots leaked, with their number and what to do', () => {
    const [status, reason, message] = conditionFor({ kind: 'slots leaked', running: 0, total: 2 });
    assert.deepEqual([status, reason], ['False', 'SlotsLeaked']);
    assert.match(message ?? '', /although 0 of 2 run.*Restart the Mac\.$/);
  });
});

describe('the condition GuestAddresses', () => {
  test('is False for DHCP leases of a day, before the addresses run out (INC-428)', () => {
    const conditionFor = (dhcpLeaseSeconds?: number) =>
      conditionStates(dhcpLeaseSeconds === undefined ? {} : { ...exampleFacts, dhcpLeaseSeconds }).find(
        ({ type }) => type === 'GuestAddresses',
      );
    assert.deepEqual([conditionFor(86_400)?.status, conditionFor(86_400)?.reason], ['False', 'LeasesTooLong']);
    assert.match(conditionFor(86_400)?.message ?? '', /86400 s.*DHCPLeaseTimeSecs/);
    assert.equal(conditionFor(600)?.status, 'True');
    assert.equal(conditionFor(), undefined);
  });
});

const disk = (freeBytes: number, totalBytes = 1000) => ({ disk: { freeBytes, totalBytes } });
const guests = (...used: number[]) => ({
  guestDisks: used.map((usedPercent, at) => ({ vm: `vm-${at}`, usedPercent })),
});

describe('pressure conditions', () => {
  const table: readonly [string, Facts, 'True' | 'False', RegExp?][] = [
    ['no DiskPressure with 10 % free on the host', disk(100), 'False'],
    ['DiskPressure with less than 10 % free on the host', disk(99), 'True', /9 % free, less than 10 %/],
    [
      'DiskPressure of the host is not hidden by empty guests (INC-40)',
      { ...disk(0), ...guests(10) },
      'True',
      /0 % free/,
    ],
    [
      'DiskPressure of a guest although the host has space (INC-39)',
      { ...disk(900), ...guests(10, 90) },
      'True',
      /vm-1 at 90%/,
    ],
    ['no DiskPressure with a guest just below 90 %', { ...disk(900), ...guests(89.9) }, 'False'],
    ['every full guest is named', guests(95, 20, 100), 'True', /vm-0 at 95%, vm-2 at 100%/],
    ['an unknown disk size is no DiskPressure', disk(0, 0), 'False'],
    ['without host facts the guests decide', guests(99), 'True', /vm-0 at 99%/],
    ['no facts are no DiskPressure', {}, 'False'],
  ];
  for (const [title, facts, status, message = /There is room/] of table)
    test(title, () => {
      const claim = diskPressure(facts);
      assert.equal(claim.status, status);
      assert.equal(claim.reason, status === 'True' ? 'TartKubeletHasDiskPressure' : 'TartKubeletHasSufficientDisk');
      assert.match(claim.message, message);
    });

  test('MemoryPressure is True at the level critical of macOS', () => {
    for (const [memory, status] of [
      ['normal', 'False'],
      ['warning', 'False'],
      ['critical', 'True'],
    ] as const)
      assert.equal(memoryPressure({ memory }).status, status);
    assert.equal(memoryPressure({}).status, 'False');
  });

  test('PIDPressure is True from 90 % of the process limit', () => {
    assert.equal(pidPressure({ processes: { running: 899, limit: 1000 } }).status, 'False');
    assert.equal(pidPressure({ processes: { running: 900, limit: 1000 } }).status, 'True');
    assert.equal(pidPressure({ processes: { running: 5, limit: 0 } }).status, 'False');
    assert.equal(pidPressure({}).status, 'False');
  });
});
