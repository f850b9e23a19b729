import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Facts } from './host-facts.ts';
import { diskPressure, memoryPressure, pidPressure } from './pressure.ts';

const disk = (freeBytes: number, totalBytes = 1000) => ({ disk: { freeBytes, totalBytes } });
const guests = (...used: number[]) => ({
  guestDisks: used.map((usedPercent, at) => ({ vm: `vm-${at}`, usedPercent })),
});

describe('pressure', () => {
  const table: readonly [string, Facts, 'True' | 'False', RegExp?][] = [
    ['a host with a tenth free has room', disk(100), 'False'],
    ['a host with less has none', disk(99), 'True', /9 % free, less than 10 %/],
    [
      'a host that is full stays seen while its guests are empty (INC-40)',
      { ...disk(0), ...guests(10) },
      'True',
      /0 % free/,
    ],
    [
      'a guest that is full is seen although the host has room (INC-39)',
      { ...disk(900), ...guests(10, 90) },
      'True',
      /vm-1 at 90%/,
    ],
    ['a guest just below is not', { ...disk(900), ...guests(89.9) }, 'False'],
    ['every full guest is named', guests(95, 20, 100), 'True', /vm-0 at 95%, vm-2 at 100%/],
    ['a size that nobody knows counts as room', disk(0, 0), 'False'],
    ['a disk that nobody could look at leaves it to the guests', guests(99), 'True', /vm-0 at 99%/],
    ['nothing known is no pressure', {}, 'False'],
  ];
  for (const [title, facts, status, message = /There is room/] of table)
    test(title, () => {
      const claim = diskPressure(facts);
      assert.equal(claim.status, status);
      assert.equal(claim.reason, status === 'True' ? 'TartKubeletHasDiskPressure' : 'TartKubeletHasSufficientDisk');
      assert.match(claim.message, message);
    });

  test('of memory is what macOS calls critical', () => {
    for (const [memory, status] of [
      ['normal', 'False'],
      ['warning', 'False'],
      ['critical', 'True'],
    ] as const)
      assert.equal(memoryPressure({ memory }).status, status);
    assert.equal(memoryPressure({}).status, 'False');
  });

  test('of processes begins at nine tenths of what is allowed', () => {
    assert.equal(pidPressure({ processes: { running: 899, most: 1000 } }).status, 'False');
    assert.equal(pidPressure({ processes: { running: 900, most: 1000 } }).status, 'True');
    assert.equal(pidPressure({ processes: { running: 5, most: 0 } }).status, 'False');
    assert.equal(pidPressure({}).status, 'False');
  });
});
