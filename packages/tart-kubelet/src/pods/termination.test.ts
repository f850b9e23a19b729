import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Termination, VmRecord } from '../journal/journal.ts';
import type { LastRun, Pod } from './snapshot.ts';
import {
  deadlineMessage,
  deadlineOf,
  deadlineTermination,
  restartAt,
  shouldRestart,
  terminationOf,
} from './termination.ts';
import { exampleNow as now, examplePod, exampleRecord, exampleStates, exampleTermination } from './testing/example.ts';

describe('the termination of a run', () => {
  const running = exampleRecord(exampleStates.running);
  const end = (lastRun: Partial<LastRun>, record: VmRecord | undefined = running): Termination =>
    terminationOf(record, { started: true, ending: { kind: 'unknown' }, ...lastRun }, now);
  const times = { startedAt: now - 60_000, finishedAt: now };

  const rows: [
    title: string,
    lastRun: Partial<LastRun>,
    expected: Pick<Termination, 'exitCode' | 'reason' | 'message'>,
  ][] = [
    ['the guest reported success', { report: { code: 0, at: now } }, { exitCode: 0, reason: 'Completed' }],
    [
      'the guest reported failure, tart none',
      { report: { code: 3, at: now }, exitCode: 0 },
      { exitCode: 3, reason: 'Error' },
    ],
    [
      'the result of the guest wins over that of tart',
      { report: { code: 0, at: now }, ending: { kind: 'crashed', message: '' } },
      { exitCode: 0, reason: 'Completed' },
    ],
    [
      'the guest halted without a report (INC-23)',
      { ending: { kind: 'halted' }, exitCode: 0 },
      { exitCode: 0, reason: 'TartRunExited', message: 'The guest shut itself down and reported no result.' },
    ],
    [
      'tart exited with 0 without output',
      { exitCode: 0 },
      { exitCode: 0, reason: 'TartRunExited', message: 'tart exited, and the guest reported no result.' },
    ],
    [
      'a crash was counted as success (INC-409)',
      { ending: { kind: 'crashed', message: 'x' }, exitCode: 0 },
      { exitCode: 1, reason: 'TartRunFailed', message: 'x' },
    ],
    [
      'a crash with an exit code of its own',
      { ending: { kind: 'crashed', message: 'x' }, exitCode: 2 },
      { exitCode: 1, reason: 'TartRunFailed', message: 'x' },
    ],
    [
      'a power cut was counted as success (INC-409)',
      { ending: { kind: 'stopped' }, exitCode: 0 },
      { exitCode: 1, reason: 'TartRunFailed', message: 'The power of the virtual machine was cut.' },
    ],
    [
      'tart failed',
      { ending: { kind: 'failed', reason: 'other', message: 'x' }, exitCode: 2 },
      { exitCode: 2, reason: 'TartRunFailed', message: 'x' },
    ],
    [
      'tart failed while no agent ran',
      { ending: { kind: 'failed', reason: 'other', message: 'x' } },
      { exitCode: 1, reason: 'TartRunFailed', message: 'x' },
    ],
    [
      'tart was killed',
      { ending: { kind: 'killed', signal: 'SIGKILL' } },
      { exitCode: 137, reason: 'TartRunFailed', message: 'tart was ended by SIGKILL.' },
    ],
    [
      'tart was killed by an unknown signal',
      { ending: { kind: 'killed', signal: 'SIGNONE' } },
      { exitCode: 1, reason: 'TartRunFailed', message: 'tart was ended by SIGNONE.' },
    ],
    [
      'a recovered VM’s end was always success (INC-409)',
      {},
      {
        exitCode: 1,
        reason: 'TartRunFailed',
        message: 'The end of the virtual machine was not observed. Perhaps the Mac was restarted.',
      },
    ],
  ];
  for (const [title, lastRun, expected] of rows)
    it(title, () => assert.deepEqual(end(lastRun), { ...expected, ...times }));

  const startedAt = (record?: VmRecord): number | undefined =>
    terminationOf(record, { started: true, ending: { kind: 'halted' } }, now).startedAt;
  it('begins when the VM was seen to run, else when it was started, else at an unknown time', () => {
    assert.equal(startedAt(running), now - 60_000);
    assert.equal(startedAt(exampleRecord({ kind: 'starting', at: now - 5 })), now - 5);
    assert.equal(startedAt(exampleRecord(exampleStates.configured)), undefined);
    assert.ok(!('startedAt' in terminationOf(undefined, { started: true, ending: { kind: 'halted' } }, now)));
  });

  const finished = (lastRun: Partial<LastRun>, record?: VmRecord): number => end(lastRun, record).finishedAt - now;
  it('takes finishedAt from the process, then from the guest, then from the clock (INC-32, INC-33)', () => {
    assert.equal(finished({ exitedAt: now - 5, report: { code: 0, at: now - 9 } }), -5);
    assert.equal(finished({ report: { code: 0, at: now - 9 } }), -9);
    assert.equal(finished({}), 0);
  });

  it('limits finishedAt to between the start and now, in whole milliseconds (INC-33)', () => {
    assert.equal(finished({ report: { code: 0, at: 0 } }), -60_000);
    assert.equal(finished({ report: { code: 0, at: now * 2 } }), 0);
    assert.equal(finished({ report: { code: 0, at: now - 1.5 } }), -2);
    const beforeClock = exampleRecord({ kind: 'starting', at: now + 7000 });
    assert.equal(finished({ report: { code: 0, at: now } }, beforeClock), 7000);
    assert.equal(finished({ report: { code: 0, at: now + 9000 } }, beforeClock), 7000);
    const unknownStart = exampleRecord(exampleStates.configured);
    assert.equal(finished({ report: { code: 0, at: now - 9 } }, unknownStart), -9);
    assert.equal(finished({ report: { code: 0, at: now + 9 } }, unknownStart), 0);
  });
});

describe('the deadline of a Pod', () => {
  const withDeadline = (startTime?: string, activeDeadlineSeconds?: number): Pod =>
    examplePod((pod) => {
      if (startTime !== undefined) pod.status = { startTime };
      if (pod.spec && activeDeadlineSeconds !== undefined) pod.spec.activeDeadlineSeconds = activeDeadlineSeconds;
    });
  const started = '2026-06-01T12:00:00Z';
  const rows: [title: string, pod: Pod, deadline: number | undefined][] = [
    ['counts from the start of the Pod', withDeadline(started, 90), now + 90_000],
    ['is none without activeDeadlineSeconds', withDeadline(started), undefined],
    ['is none before the start', withDeadline(undefined, 90), undefined],
    ['is none with an invalid start', withDeadline('soon', 90), undefined],
    ['is none without spec and status', { apiVersion: 'v1', kind: 'Pod' }, undefined],
  ];
  for (const [title, pod, deadline] of rows) it(title, () => assert.equal(deadlineOf(pod), deadline));

  it('makes every end a failure, and keeps its times', () => {
    const pod = withDeadline(started, 90);
    const message = 'The Pod was active on the Node for longer than its activeDeadlineSeconds, 90 s.';
    assert.equal(deadlineMessage(pod), message);
    const { startedAt, finishedAt } = exampleTermination;
    const byDeadline = { reason: 'DeadlineExceeded', message, startedAt, finishedAt };
    assert.deepEqual(deadlineTermination(pod, exampleTermination), { ...byDeadline, exitCode: 143 });
    assert.deepEqual(deadlineTermination(pod, { ...exampleTermination, exitCode: 3 }), { ...byDeadline, exitCode: 3 });
  });
});

describe('a run that ended', () => {
  const rows: [policy: 'Always' | 'OnFailure' | 'Never' | undefined, afterSuccess: boolean, afterFailure: boolean][] = [
    ['Always', true, true],
    [undefined, true, true],
    ['OnFailure', false, true],
    ['Never', false, false],
  ];
  for (const [policy, afterSuccess, afterFailure] of rows)
    it(`with the restart policy ${policy}: restarts ${afterSuccess} after success, ${afterFailure} after failure, never after its deadline`, () => {
      const pod = examplePod(({ spec }) => {
        if (!spec) return;
        delete spec.restartPolicy;
        if (policy) spec.restartPolicy = policy;
      });
      assert.equal(shouldRestart(pod, exampleTermination), afterSuccess);
      assert.equal(shouldRestart(pod, { ...exampleTermination, exitCode: 1 }), afterFailure);
      assert.equal(shouldRestart(pod, { ...exampleTermination, exitCode: 1, reason: 'DeadlineExceeded' }), false);
    });
  it('restarts without a spec, as by default', () =>
    assert.equal(shouldRestart({ apiVersion: 'v1', kind: 'Pod' }, exampleTermination), true));

  it('restarts at once, then after 10 s, doubled up to 5 min, reset after a run of 10 min', () => {
    const after = (run: number, ranMs = 1000): number =>
      restartAt({ run }, { ...exampleTermination, startedAt: now - ranMs, finishedAt: now }) - now;
    assert.deepEqual(
      [0, 1, 2, 3, 6, 2000].map((run) => after(run)),
      [0, 10_000, 20_000, 40_000, 300_000, 300_000],
    );
    assert.equal(after(9, 600_000), 0);
    assert.equal(after(9, 599_999), 300_000);
    assert.equal(restartAt({ run: 1 }, { exitCode: 1, reason: 'Error', finishedAt: now }) - now, 10_000);
  });
});
