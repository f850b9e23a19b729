import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { MachineStatus } from '@tartan/api';
import { failuresOf, lastAttemptOf, pauseMs, withAttempt } from './last-attempt.ts';
import { at, node, now, tried } from './testing/snapshots.ts';

describe('the last attempt on a Mac', () => {
  const condition = { status: 'False', message: '', lastTransitionTime: at(3), type: 'HostUpToDate' } as const;
  const written: [string, MachineStatus, ReturnType<typeof lastAttemptOf>][] = [
    ['nothing', {}, undefined],
    ['another verdict', { conditions: [{ ...condition, reason: 'WaitingForTurn' }] }, undefined],
    [
      'failed bootstraps',
      { bootstrapAttempts: 2, lastBootstrapFailureTime: at(1), lastUpdateFailureTime: at(9) },
      { task: 'Bootstrap', outcome: 'Rejected', message: '', at: at(1), count: 2 },
    ],
    [
      'failed updates',
      { tartKubeletUpdateAttempts: 3, lastUpdateFailureTime: at(1) },
      { task: 'Update', outcome: 'Rejected', message: '', at: at(1), count: 3 },
    ],
    [
      'an update that waits for an idle Mac',
      { conditions: [{ ...condition, reason: 'WaitingForIdle' }] },
      { task: 'Update', outcome: 'WaitingForIdle', message: '', at: at(3), count: 0 },
    ],
    [
      'one of its own, and older ones',
      { ...tried('Register', 'Succeeded', 5), bootstrapAttempts: 2 },
      tried('Register', 'Succeeded', 5).lastAttempt,
    ],
  ];
  for (const [name, status, attempt] of written)
    it(`is read from the fields of an older manager: ${name}`, () => {
      assert.deepEqual(lastAttemptOf(status), attempt);
    });

  it('replaces the fields of older managers, and continues their count', () => {
    const status = { bootstrapAttempts: 2, lastBootstrapFailureTime: at(1), serverID: 's' };
    const next = withAttempt(status, { task: 'Bootstrap', outcome: 'Running' }, now);
    assert.deepEqual(next, {
      serverID: 's',
      lastAttempt: { task: 'Bootstrap', outcome: 'Running', message: '', at: '2026-01-01T12:00:00Z', count: 2 },
    });
    const other = withAttempt(next, { task: 'Update', outcome: 'Rejected', message: 'x'.repeat(2000) }, now, 1);
    assert.deepEqual([other.lastAttempt?.count, other.lastAttempt?.message.length], [1, 1024]);
  });

  for (const [name, time, left] of [
    ['that has just ended', at(0), 60_000],
    ['that ended long ago', at(60), 0],
    ['whose time is none', '', 0],
    ['from a clock that is ahead', at(-60), 60_000],
  ] as const)
    it(`delays nothing longer than its back-off: one ${name}`, () => {
      const attempt = { task: 'Bootstrap', outcome: 'Rejected', message: '', at: time, count: 1 } as const;
      assert.equal(pauseMs(attempt, now, node), left);
    });
});

test('an attempt of another task of the same phase keeps the count of failures', () => {
  for (const [counted, between, other] of [
    ['Bootstrap', 'Credentials', 'Update'],
    ['Update', 'Register', 'Bootstrap'],
  ] as const) {
    const failed = withAttempt({}, { task: counted, outcome: 'Rejected' }, now, 2);
    const later = withAttempt(failed, { task: between, outcome: 'HostUnreachable' }, now);
    assert.deepEqual([failuresOf(later, counted), failuresOf(later, other)], [2, 0], counted);
  }
});
