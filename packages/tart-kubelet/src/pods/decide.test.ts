import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TartReason } from '@tartan/tart';
import type { Ending } from '../journal/record.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Snapshot } from './snapshot.ts';
import {
  exampleEnding,
  exampleNow as now,
  examplePod,
  exampleProcess,
  exampleRecord,
  exampleSnapshot,
  states,
} from './testing/example.ts';

const running = { kind: 'running', process: exampleProcess } as const;
const stopped = { kind: 'stopped' } as const;
const halted = { started: true, ending: { kind: 'halted' } } as const;
const withPod = (change: Parameters<typeof examplePod>[0], more: Partial<Snapshot> = {}): Snapshot =>
  exampleSnapshot({ pod: examplePod(change), ...more });
const deleting: Parameters<typeof examplePod>[0] = ({ metadata }) => {
  metadata.deletionTimestamp = '2026-06-01T12:00:10Z';
  metadata.deletionGracePeriodSeconds = 30;
};
const ended: Parameters<typeof examplePod>[0] = (pod) => void (pod.status = { phase: 'Succeeded' });
const both: Parameters<typeof examplePod>[0] = (pod) => {
  deleting(pod);
  ended(pod);
};
const bare: Parameters<typeof examplePod>[0] = ({ metadata }) => void delete metadata.finalizers;
const always: Parameters<typeof examplePod>[0] = ({ spec }) => void (spec && (spec.restartPolicy = 'Always'));
const onFailure: Parameters<typeof examplePod>[0] = ({ spec }) => void (spec && (spec.restartPolicy = 'OnFailure'));
/** It was to be active for a minute, and that is over now. */
const overdue: Parameters<typeof examplePod>[0] = (pod) => {
  pod.status = { phase: 'Pending', startTime: '2026-06-01T11:59:00Z' };
  if (pod.spec) pod.spec.activeDeadlineSeconds = 60;
};
const failed: Ending = { ...exampleEnding, exitCode: 1, reason: 'Error' };
const full = { total: 2, ofOthers: 2 };
const notStarted = (reason: TartReason): Snapshot['remains'] => ({
  started: true,
  exitCode: 1,
  ending: { kind: 'failed', reason, message: 'no' },
});
const refused = notStarted('VM limit reached');

const table: readonly [string, Snapshot, Decision['kind']][] = [
  // The way up.
  ['force delete left a VM behind: the finalizer comes before any work (INC-15)', withPod(bare), 'add finalizer'],
  [
    'its image is fetched while the finalizer is on its way',
    withPod(bare, { finalizerAsked: true, image: { kind: 'missing' } }),
    'pull',
  ],
  ['and its disk is made', withPod(bare, { finalizerAsked: true }), 'clone'],
  [
    'and made its own',
    withPod(bare, { finalizerAsked: true, record: exampleRecord(states.cloning), vm: stopped }),
    'configure',
  ],
  [
    'but it is not started (INC-15)',
    withPod(bare, { finalizerAsked: true, record: exampleRecord(states.configured), vm: stopped }),
    'await finalizer',
  ],
  [
    'and what it waits for is told once the finalizer is there',
    withPod(bare, { finalizerAsked: true, image: { kind: 'pulling' } }),
    'await finalizer',
  ],
  [
    'what failed is told then, too',
    withPod(bare, { finalizerAsked: true, trouble: { reason: 'TartCreateFailed', message: 'no', retryAt: now } }),
    'await finalizer',
  ],
  ['the image is not here', exampleSnapshot({ image: { kind: 'missing' } }), 'pull'],
  ['the image is on its way', exampleSnapshot({ image: { kind: 'pulling', percent: 43.7 } }), 'wait'],
  ['the image is here', exampleSnapshot(), 'clone'],
  ['the clone is not there after all', exampleSnapshot({ record: exampleRecord(states.cloning) }), 'clone'],
  ['the clone is there', exampleSnapshot({ record: exampleRecord(states.cloning), vm: stopped }), 'configure'],
  ['it is ready to start', exampleSnapshot({ record: exampleRecord(states.configured), vm: stopped }), 'boot'],
  ['somebody deleted the clone', exampleSnapshot({ record: exampleRecord(states.configured) }), 'clone'],
  [
    'the agent died before tart was called',
    exampleSnapshot({ record: exampleRecord(states.starting), vm: stopped }),
    'boot',
  ],
  [
    'slow guests were destroyed: an address has no deadline (INC-21)',
    exampleSnapshot({ now: now + 86_400_000, record: exampleRecord(states.running), vm: running }),
    'wait for address',
  ],
  [
    'it runs',
    exampleSnapshot({ record: exampleRecord(states.running), vm: { ...running, address: '192.168.64.2' } }),
    'running',
  ],
  [
    'a lease that cannot be read took Ready away (G10)',
    exampleSnapshot({ record: exampleRecord({ ...states.running, address: '192.168.64.2' }), vm: running }),
    'running',
  ],
  // Slots.
  ['a third Pod looped in failures (3.11)', exampleSnapshot({ slots: full }), 'wait'],
  [
    'a slot was lost to a foreign VM before the start',
    exampleSnapshot({ record: exampleRecord(states.configured), vm: stopped, slots: full }),
    'wait',
  ],
  [
    'a VM that is on keeps its slot however many there are',
    exampleSnapshot({ record: exampleRecord(states.running), vm: running, slots: full }),
    'wait for address',
  ],
  [
    'the framework refused the start: a Pod that may run once has not run',
    exampleSnapshot({ record: exampleRecord(states.running), vm: stopped, remains: refused }),
    'take back start',
  ],
  [
    'a locked keychain ended the Pod: macOS 15 says nothing of a key',
    exampleSnapshot({ record: exampleRecord(states.running), vm: stopped, remains: notStarted('start refused') }),
    'take back start',
  ],
  [
    'and so did every start that failed in words that nobody knows',
    exampleSnapshot({ record: exampleRecord(states.starting), vm: stopped, remains: notStarted('other') }),
    'take back start',
  ],
  ...(['invalid', 'missing', 'already running'] as const).map((reason): [string, Snapshot, Decision['kind']] => [
    `a start that will never work is a run that failed: ${reason}`,
    exampleSnapshot({ record: exampleRecord(states.running), vm: stopped, remains: notStarted(reason) }),
    'end',
  ]),
  [
    'tart was killed: the guest may have been on',
    exampleSnapshot({
      record: exampleRecord(states.running),
      vm: stopped,
      remains: { started: true, ending: { kind: 'killed', signal: 'SIGKILL' } },
    }),
    'end',
  ],
  [
    'the log tells of a refusal, and yet the guest had an address',
    exampleSnapshot({
      record: exampleRecord({ ...states.running, address: '192.168.64.2' }),
      vm: stopped,
      remains: refused,
    }),
    'end',
  ],
  [
    'the log tells of a refusal, and yet the guest reported',
    exampleSnapshot({
      record: exampleRecord(states.running),
      vm: stopped,
      remains: { ...refused, report: { code: 0, at: now } },
    }),
    'end',
  ],
  // The agent was away.
  [
    'Pod looped "already running" after an agent restart (INC-30)',
    exampleSnapshot({ record: exampleRecord(states.starting), vm: running, remains: halted }),
    'adopt',
  ],
  ['a VM without a record is adopted', exampleSnapshot({ vm: running }), 'adopt'],
  ['a VM with a record that cannot be read', exampleSnapshot({ record: 'unreadable', vm: running }), 'adopt'],
  [
    'another process has the VM now',
    exampleSnapshot({
      record: exampleRecord(states.running),
      vm: { kind: 'running', process: { pid: 101, startedAt: now } },
    }),
    'adopt',
  ],
  [
    'a VM that halted while the agent was down was run again from its dirty disk (G7)',
    exampleSnapshot({ record: exampleRecord(states.running), vm: stopped, remains: halted }),
    'end',
  ],
  [
    'the agent died while it started the VM, which has ended since',
    exampleSnapshot({ record: exampleRecord(states.starting), vm: stopped, remains: halted }),
    'end',
  ],
  ['the VM vanished', exampleSnapshot({ record: exampleRecord(states.running) }), 'end'],
  [
    'the journal was lost, and the server knows that it ran (G6)',
    withPod((pod) => void (pod.status = { phase: 'Running' })),
    'end',
  ],
  [
    'the journal was lost during a back-off',
    withPod(
      (pod) =>
        void (pod.status = {
          phase: 'Pending',
          containerStatuses: [{ name: 'runner', image: '', imageID: '', ready: false, restartCount: 2 }],
        }),
    ),
    'end',
  ],
  ['a record that cannot be read may be of one that ended', exampleSnapshot({ record: 'unreadable' }), 'end'],
  ['a disk without a record that was on', exampleSnapshot({ vm: stopped, remains: halted }), 'end'],
  ['a disk without a record that never was on', exampleSnapshot({ vm: stopped }), 'delete VM'],
  // The end.
  [
    'a finished Pod booted a second VM when its status was not written (G6, INC-18)',
    exampleSnapshot({ record: exampleRecord(states.ended) }),
    'finish status',
  ],
  [
    'the status comes before the evidence is deleted (G6)',
    exampleSnapshot({ record: exampleRecord(states.ended), vm: stopped }),
    'finish status',
  ],
  [
    'an ended VM that somebody started is none of the Pod’s',
    exampleSnapshot({ record: exampleRecord(states.ended), vm: running }),
    'stop hard',
  ],
  [
    'a finished Pod gives its disk back',
    withPod(ended, { record: exampleRecord(states.ended), vm: stopped }),
    'delete VM',
  ],
  [
    'Pods on a deleted Mac were immortal: an ended one needs no finalizer (INC-71)',
    withPod(ended, { record: exampleRecord(states.ended) }),
    'remove finalizer',
  ],
  [
    'a finished Pod is left alone (INC-18)',
    withPod(
      (pod) => {
        ended(pod);
        bare(pod);
      },
      { record: exampleRecord(states.ended) },
    ),
    'rest',
  ],
  [
    'somebody failed a Pod whose VM is on',
    withPod(ended, { record: exampleRecord(states.running), vm: running }),
    'stop gracefully',
  ],
  [
    'somebody failed a Pod whose VM then ended',
    withPod(ended, { record: exampleRecord(states.running), vm: stopped, remains: halted }),
    'end',
  ],
  // Restarts.
  ['Always: the disk goes first', withPod(always, { record: exampleRecord(states.ended), vm: stopped }), 'delete VM'],
  ['Always: then it starts anew', withPod(always, { record: exampleRecord(states.ended) }), 'restart'],
  [
    'a second restart is held back',
    withPod(always, { now: now + 8999, record: exampleRecord(states.ended, { run: 1 }) }),
    'wait',
  ],
  [
    'and comes when its time is over',
    withPod(always, { now: now + 9000, record: exampleRecord(states.ended, { run: 1 }) }),
    'restart',
  ],
  [
    'a clock that was set back holds no restart for hours',
    withPod(always, { now: now - 86_400_000, record: exampleRecord(states.ended, { run: 1 }) }),
    'restart',
  ],
  ['OnFailure after success', withPod(onFailure, { record: exampleRecord(states.ended) }), 'finish status'],
  [
    'OnFailure after failure',
    withPod(onFailure, { record: exampleRecord({ kind: 'ended', ending: failed }) }),
    'restart',
  ],
  // A deadline.
  [
    'a runaway job held its slot for ever',
    withPod(overdue, { record: exampleRecord(states.running), vm: running }),
    'stop gracefully',
  ],
  [
    'its guest has the grace period of the Pod',
    withPod(overdue, { record: exampleRecord(states.running, { stopRequestedAt: now - 29_999 }), vm: running }),
    'wait for shutdown',
  ],
  [
    'and no longer than that',
    withPod(overdue, { record: exampleRecord(states.running, { stopRequestedAt: now - 30_000 }), vm: running }),
    'stop hard',
  ],
  [
    'then it has ended',
    withPod(overdue, { record: exampleRecord(states.running), vm: stopped, remains: halted }),
    'end',
  ],
  [
    'and its Pod fails, whatever its policy',
    withPod((pod) => (overdue(pod), always(pod)), {
      record: exampleRecord({ kind: 'ended', ending: { ...failed, reason: 'DeadlineExceeded' } }),
      vm: stopped,
    }),
    'finish status',
  ],
  [
    'also when the clock was set back since',
    withPod((pod) => (overdue(pod), always(pod)), {
      now: now - 30_000,
      record: exampleRecord({ kind: 'ended', ending: { ...failed, reason: 'DeadlineExceeded' } }),
    }),
    'finish status',
  ],
  [
    'a Pod that restarts for ever fails between two runs',
    withPod((pod) => (overdue(pod), always(pod)), { record: exampleRecord(states.ended) }),
    'finish status',
  ],
  ['a Pod that waits for a slot fails too', withPod(overdue, { slots: full }), 'reject'],
  ['one whose image is on its way', withPod(overdue, { image: { kind: 'pulling' } }), 'reject'],
  [
    'one that is held back',
    withPod(overdue, {
      record: exampleRecord(states.configured),
      vm: stopped,
      trouble: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1000 },
    }),
    'reject',
  ],
  [
    'one whose start was refused',
    withPod(overdue, { record: exampleRecord(states.running), vm: stopped, remains: refused }),
    'reject',
  ],
  [
    'a second before that it goes on',
    withPod(
      (pod) => {
        overdue(pod);
        if (pod.spec) pod.spec.activeDeadlineSeconds = 61;
      },
      { record: exampleRecord(states.running), vm: running },
    ),
    'wait for address',
  ],
  [
    'one that was not taken on has no deadline yet',
    withPod((pod) => {
      if (pod.spec) pod.spec.activeDeadlineSeconds = 1;
    }),
    'clone',
  ],
  [
    'what has ended in time has ended as it did',
    withPod(overdue, { record: exampleRecord(states.ended) }),
    'finish status',
  ],
  // Deletion.
  [
    '504 finished Pods were stuck Terminating: deletion is looked at before the phase (INC-17, D4)',
    withPod(both, { record: exampleRecord(states.ended) }),
    'remove finalizer',
  ],
  ['nobody confirmed the deletion (INC-14)', withPod((pod) => (deleting(pod), bare(pod))), 'delete Pod'],
  [
    'the guest is asked first (3.10)',
    withPod(deleting, { record: exampleRecord(states.running), vm: running }),
    'stop gracefully',
  ],
  [
    'and has its grace period',
    withPod(deleting, { record: exampleRecord(states.running, { stopRequestedAt: now - 29_999 }), vm: running }),
    'wait for shutdown',
  ],
  [
    'an agent that died between the journal and the guest left it unasked, and its power was cut',
    withPod(deleting, {
      record: exampleRecord(states.running, { stopRequestedAt: now - 29_999 }),
      vm: running,
      askedEarlier: true,
    }),
    'stop gracefully',
  ],
  [
    'and no longer than that',
    withPod(deleting, { record: exampleRecord(states.running, { stopRequestedAt: now - 30_000 }), vm: running }),
    'stop hard',
  ],
  [
    'a clock that was set back gives a guest no endless grace',
    withPod(deleting, { record: exampleRecord(states.running, { stopRequestedAt: now + 1 }), vm: running }),
    'stop hard',
  ],
  [
    'a forced deletion does not wait',
    withPod(
      (pod) => {
        deleting(pod);
        pod.metadata.deletionGracePeriodSeconds = 0;
      },
      { record: exampleRecord(states.running), vm: running },
    ),
    'stop hard',
  ],
  [
    'without a record there is nowhere to keep when the guest was asked',
    withPod(deleting, { record: 'unreadable', vm: running }),
    'stop hard',
  ],
  [
    'deletion forgot how it ended (INC-32)',
    withPod(deleting, { record: exampleRecord(states.running), vm: stopped, remains: halted }),
    'end',
  ],
  ['and told nobody', withPod(deleting, { record: exampleRecord(states.ended), vm: stopped }), 'finish status'],
  [
    'a status that the server refuses blocked the deletion',
    withPod(deleting, { record: exampleRecord(states.ended), vm: stopped, statusRefused: true }),
    'delete VM',
  ],
  [
    'the VM had vanished, and the Pod was stuck Terminating (G2)',
    withPod(both, { record: exampleRecord(states.ended) }),
    'remove finalizer',
  ],
  ['deletion with no record did not look at the host (G4)', withPod(deleting, { vm: stopped }), 'delete VM'],
  [
    'deletes waited for pulls and failures (G16)',
    withPod(deleting, {
      image: { kind: 'pulling' },
      trouble: { reason: 'ErrImagePull', message: '', retryAt: now + 1000 },
    }),
    'remove finalizer',
  ],
  // Gone.
  [
    'one wrong answer of the server ended a job',
    exampleSnapshot({ pod: { goneForMs: 119_999 }, record: exampleRecord(states.running), vm: running }),
    'wait',
  ],
  [
    'an orphan that runs cost a slot for ever (G5)',
    exampleSnapshot({ pod: { goneForMs: 120_000 }, record: exampleRecord(states.running), vm: running }),
    'stop hard',
  ],
  [
    'the Pod is gone: its disk goes, again and again until it has (G3)',
    exampleSnapshot({ pod: { goneForMs: 120_000 }, record: exampleRecord(states.running), vm: stopped }),
    'delete VM',
  ],
  [
    'the record goes last',
    exampleSnapshot({ pod: { goneForMs: 120_000 }, record: exampleRecord(states.running) }),
    'forget',
  ],
  [
    'and not while the server may be wrong: the UID would start again',
    exampleSnapshot({ pod: { goneForMs: 119_999 }, record: exampleRecord(states.ended) }),
    'wait',
  ],
  // Not known, not suited, failed before.
  [
    'an error of tart was read as "no clone" (G13, G29)',
    exampleSnapshot({ vm: { kind: 'unknown', why: 'timed out' } }),
    'wait',
  ],
  ['also for a Pod that is being deleted', withPod(deleting, { vm: { kind: 'unknown', why: 'timed out' } }), 'wait'],
  [
    'a DaemonSet for Linux took a slot (INC-74)',
    withPod((pod) => void (pod.spec && (pod.spec.os = { name: 'linux' }))),
    'leave',
  ],
  ['a Pod of two containers', withPod((pod) => void pod.spec?.containers.push({ name: 'b' })), 'reject'],
  [
    'a VM that is on is not rejected by a newer agent',
    withPod((pod) => void pod.spec?.containers.push({ name: 'b' }), {
      record: exampleRecord(states.running),
      vm: running,
    }),
    'wait for address',
  ],
  [
    'what failed is not tried at once again',
    exampleSnapshot({ trouble: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 } }),
    'wait',
  ],
  [
    'but when its time has come',
    exampleSnapshot({ trouble: { reason: 'TartCreateFailed', message: 'no', retryAt: now } }),
    'clone',
  ],
  [
    'a VM that ended is noticed whatever failed before (INC-22)',
    exampleSnapshot({
      record: exampleRecord(states.running),
      vm: stopped,
      remains: halted,
      trouble: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 },
    }),
    'end',
  ],
];

describe('the life of a Pod', () => {
  for (const [sentence, snapshot, kind] of table) test(sentence, () => assert.equal(decide(snapshot).kind, kind));

  test('tells an end by the deadline from one in time', () => {
    const ending = (finished: number, code: number, stopRequestedAt?: number) => {
      const record = exampleRecord(states.running, { ...(stopRequestedAt !== undefined && { stopRequestedAt }) });
      const remains = { ...halted, exitedAt: finished, report: { code, at: finished } };
      const decision = decide(withPod(overdue, { now: now + 5000, record, vm: stopped, remains }));
      return decision.kind === 'end' ? [decision.ending.reason, decision.ending.exitCode] : decision.kind;
    };
    assert.deepEqual(ending(now - 1, 0), ['Completed', 0]);
    assert.deepEqual(ending(now - 1, 0, now), ['DeadlineExceeded', 143]);
    assert.deepEqual(ending(now, 0), ['DeadlineExceeded', 143]);
    assert.deepEqual(ending(now + 3000, 7), ['DeadlineExceeded', 7]);
  });

  test('says how far the image is', () => {
    const decision = decide(exampleSnapshot({ image: { kind: 'pulling', percent: 43.7 } }));
    assert.equal(decision.kind === 'wait' && decision.for.reason, 'Pulling 43 %');
  });
});
