import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TartReason } from '@tartan/tart';
import type { Termination } from '../journal/journal.ts';
import { decide, type Decision } from './decide.ts';
import type { Pod, Snapshot } from './snapshot.ts';
import {
  exampleNow as now,
  examplePod,
  exampleProcess,
  exampleRecord,
  exampleSnapshot,
  exampleStates,
  exampleTermination,
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
const deletingAndEnded: Parameters<typeof examplePod>[0] = (pod) => {
  deleting(pod);
  ended(pod);
};
const withoutFinalizer: Parameters<typeof examplePod>[0] = ({ metadata }) => void delete metadata.finalizers;
const always: Parameters<typeof examplePod>[0] = ({ spec }) => void (spec && (spec.restartPolicy = 'Always'));
const onFailure: Parameters<typeof examplePod>[0] = ({ spec }) => void (spec && (spec.restartPolicy = 'OnFailure'));
/** Its deadline of one minute has passed. */
const overdue: Parameters<typeof examplePod>[0] = (pod) => {
  pod.status = { phase: 'Pending', startTime: '2026-06-01T11:59:00Z' };
  if (pod.spec) pod.spec.activeDeadlineSeconds = 60;
};
/** The server has this state of its container, which was never restarted. */
const withContainer = (
  state: NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state'],
): Snapshot =>
  withPod((pod) => {
    const container = {
      name: 'runner',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      ...(state && { state }),
    };
    pod.status = { phase: 'Pending', containerStatuses: [container] };
  });
const failed: Termination = { ...exampleTermination, exitCode: 1, reason: 'Error' };
const full = { total: 2, usedByOthers: 2 };
const notStarted = (reason: TartReason): Snapshot['lastRun'] => ({
  started: true,
  exitCode: 1,
  ending: { kind: 'failed', reason, message: 'no' },
});
const refused = notStarted('VM limit reached');

const table: readonly [string, Snapshot, Decision['kind']][] = [
  // Start.
  [
    'force delete left a VM behind: the finalizer comes before any work (INC-15)',
    withPod(withoutFinalizer),
    'add finalizer',
  ],
  ['the image is not here', exampleSnapshot({ image: { kind: 'missing' } }), 'pull'],
  ['the image is on its way', exampleSnapshot({ image: { kind: 'pulling', percent: 43.7 } }), 'wait'],
  ['the image is here', exampleSnapshot(), 'clone'],
  ['the clone is not there after all', exampleSnapshot({ record: exampleRecord(exampleStates.cloning) }), 'clone'],
  ['the clone is there', exampleSnapshot({ record: exampleRecord(exampleStates.cloning), vm: stopped }), 'configure'],
  ['it is ready to start', exampleSnapshot({ record: exampleRecord(exampleStates.configured), vm: stopped }), 'boot'],
  ['somebody deleted the clone', exampleSnapshot({ record: exampleRecord(exampleStates.configured) }), 'clone'],
  [
    'the agent died before tart was called',
    exampleSnapshot({ record: exampleRecord(exampleStates.starting), vm: stopped }),
    'boot',
  ],
  [
    'slow guests were destroyed: an address has no deadline (INC-21)',
    exampleSnapshot({ now: now + 86_400_000, record: exampleRecord(exampleStates.running), vm: running }),
    'wait for address',
  ],
  [
    'it runs',
    exampleSnapshot({ record: exampleRecord(exampleStates.running), vm: { ...running, address: '192.168.64.2' } }),
    'running',
  ],
  [
    'a lease that cannot be read took Ready away (INC-410)',
    exampleSnapshot({ record: exampleRecord({ ...exampleStates.running, address: '192.168.64.2' }), vm: running }),
    'running',
  ],
  // Slots.
  ['a third Pod looped in failures (3.11)', exampleSnapshot({ slots: full }), 'wait'],
  [
    'a slot was lost to a foreign VM before the start',
    exampleSnapshot({ record: exampleRecord(exampleStates.configured), vm: stopped, slots: full }),
    'wait',
  ],
  [
    'a VM that is on keeps its slot however many there are',
    exampleSnapshot({ record: exampleRecord(exampleStates.running), vm: running, slots: full }),
    'wait for address',
  ],
  [
    'the framework refused the start: a Pod that may run once has not run',
    exampleSnapshot({ record: exampleRecord(exampleStates.running), vm: stopped, lastRun: refused }),
    'undo start',
  ],
  [
    'a locked keychain ended the Pod: macOS 15 says nothing of a key',
    exampleSnapshot({
      record: exampleRecord(exampleStates.running),
      vm: stopped,
      lastRun: notStarted('start refused'),
    }),
    'undo start',
  ],
  [
    'a start that fails with an unknown message is undone as well',
    exampleSnapshot({ record: exampleRecord(exampleStates.starting), vm: stopped, lastRun: notStarted('other') }),
    'undo start',
  ],
  ...(['invalid', 'missing', 'already running'] as const).map((reason): [string, Snapshot, Decision['kind']] => [
    `a start that will never work is a run that failed: ${reason}`,
    exampleSnapshot({ record: exampleRecord(exampleStates.running), vm: stopped, lastRun: notStarted(reason) }),
    'end',
  ]),
  [
    'tart was killed: the guest may have been on',
    exampleSnapshot({
      record: exampleRecord(exampleStates.running),
      vm: stopped,
      lastRun: { started: true, ending: { kind: 'killed', signal: 'SIGKILL' } },
    }),
    'end',
  ],
  [
    'tart logged a refusal, but the guest had an address',
    exampleSnapshot({
      record: exampleRecord({ ...exampleStates.running, address: '192.168.64.2' }),
      vm: stopped,
      lastRun: refused,
    }),
    'end',
  ],
  [
    'tart logged a refusal, but the guest reported a result',
    exampleSnapshot({
      record: exampleRecord(exampleStates.running),
      vm: stopped,
      lastRun: { ...refused, report: { code: 0, at: now } },
    }),
    'end',
  ],
  // After an agent restart.
  [
    'Pod looped "already running" after an agent restart (INC-30)',
    exampleSnapshot({ record: exampleRecord(exampleStates.starting), vm: running, lastRun: halted }),
    'adopt',
  ],
  ['a VM without a record is adopted', exampleSnapshot({ vm: running }), 'adopt'],
  ['a VM with a record that cannot be read', exampleSnapshot({ record: 'unreadable', vm: running }), 'adopt'],
  [
    'another process has the VM now',
    exampleSnapshot({
      record: exampleRecord(exampleStates.running),
      vm: { kind: 'running', process: { pid: 101, startedAt: now } },
    }),
    'adopt',
  ],
  [
    'a VM that halted while the agent was down was run again from its dirty disk (INC-407)',
    exampleSnapshot({ record: exampleRecord(exampleStates.running), vm: stopped, lastRun: halted }),
    'end',
  ],
  [
    'the agent died while it started the VM, which has ended since',
    exampleSnapshot({ record: exampleRecord(exampleStates.starting), vm: stopped, lastRun: halted }),
    'end',
  ],
  ['the VM vanished', exampleSnapshot({ record: exampleRecord(exampleStates.running) }), 'end'],
  [
    'the journal was lost, and the server knows that it ran (INC-18)',
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
  ['the journal was lost while its container ran', withContainer({ running: {} }), 'end'],
  ['the journal was lost after its container terminated', withContainer({ terminated: { exitCode: 0 } }), 'end'],
  ['a container that waits has not run', withContainer({ waiting: {} }), 'clone'],
  ['a container without a state has not run', withContainer(undefined), 'clone'],
  ['a Pod without a status has not run', withPod((pod) => void delete pod.status), 'clone'],
  ['a record that cannot be read may be of one that ended', exampleSnapshot({ record: 'unreadable' }), 'end'],
  ['a VM without a record that has run', exampleSnapshot({ vm: stopped, lastRun: halted }), 'end'],
  ['a VM without a record that never ran', exampleSnapshot({ vm: stopped }), 'delete VM'],
  // The end.
  [
    'a finished Pod booted a second VM when its status was not written (INC-18)',
    exampleSnapshot({ record: exampleRecord(exampleStates.ended) }),
    'write final status',
  ],
  [
    'the status comes before the evidence is deleted (INC-18)',
    exampleSnapshot({ record: exampleRecord(exampleStates.ended), vm: stopped }),
    'write final status',
  ],
  [
    'an ended VM that somebody started is none of the Pod’s',
    exampleSnapshot({ record: exampleRecord(exampleStates.ended), vm: running }),
    'force stop',
  ],
  [
    'the VM of a finished Pod is deleted',
    withPod(ended, { record: exampleRecord(exampleStates.ended), vm: stopped }),
    'delete VM',
  ],
  [
    'Pods on a deleted Mac were immortal: an ended one needs no finalizer (INC-71)',
    withPod(ended, { record: exampleRecord(exampleStates.ended) }),
    'remove finalizer',
  ],
  [
    'a finished Pod is left alone (INC-18)',
    withPod(
      (pod) => {
        ended(pod);
        withoutFinalizer(pod);
      },
      { record: exampleRecord(exampleStates.ended) },
    ),
    'none',
  ],
  [
    'somebody failed a Pod whose VM is on',
    withPod(ended, { record: exampleRecord(exampleStates.running), vm: running }),
    'stop gracefully',
  ],
  [
    'somebody failed a Pod whose VM then ended',
    withPod(ended, { record: exampleRecord(exampleStates.running), vm: stopped, lastRun: halted }),
    'end',
  ],
  // Restarts.
  [
    'Always: the VM is deleted first',
    withPod(always, { record: exampleRecord(exampleStates.ended), vm: stopped }),
    'delete VM',
  ],
  [
    'Always: the next run starts when the VM is deleted',
    withPod(always, { record: exampleRecord(exampleStates.ended) }),
    'restart',
  ],
  [
    'a second restart waits for the back-off',
    withPod(always, { now: now + 8999, record: exampleRecord(exampleStates.ended, { run: 1 }) }),
    'wait',
  ],
  [
    'a restart follows when the back-off is over',
    withPod(always, { now: now + 9000, record: exampleRecord(exampleStates.ended, { run: 1 }) }),
    'restart',
  ],
  [
    'a clock that was set back does not delay a restart for hours',
    withPod(always, { now: now - 86_400_000, record: exampleRecord(exampleStates.ended, { run: 1 }) }),
    'restart',
  ],
  ['OnFailure after success', withPod(onFailure, { record: exampleRecord(exampleStates.ended) }), 'write final status'],
  [
    'OnFailure after failure',
    withPod(onFailure, { record: exampleRecord({ kind: 'ended', ending: failed }) }),
    'restart',
  ],
  // A deadline.
  [
    'a Pod past activeDeadlineSeconds is stopped',
    withPod(overdue, { record: exampleRecord(exampleStates.running), vm: running }),
    'stop gracefully',
  ],
  [
    'the guest gets the grace period of the Pod',
    withPod(overdue, { record: exampleRecord(exampleStates.running, { stopRequestedAt: now - 29_999 }), vm: running }),
    'wait for shutdown',
  ],
  [
    'the VM is force-stopped after the grace period',
    withPod(overdue, { record: exampleRecord(exampleStates.running, { stopRequestedAt: now - 30_000 }), vm: running }),
    'force stop',
  ],
  [
    'the run is recorded as terminated',
    withPod(overdue, { record: exampleRecord(exampleStates.running), vm: stopped, lastRun: halted }),
    'end',
  ],
  [
    'the Pod fails, whatever its restart policy',
    withPod((pod) => (overdue(pod), always(pod)), {
      record: exampleRecord({ kind: 'ended', ending: { ...failed, reason: 'DeadlineExceeded' } }),
      vm: stopped,
    }),
    'write final status',
  ],
  [
    'the Pod fails even if the clock was set back',
    withPod((pod) => (overdue(pod), always(pod)), {
      now: now - 30_000,
      record: exampleRecord({ kind: 'ended', ending: { ...failed, reason: 'DeadlineExceeded' } }),
    }),
    'write final status',
  ],
  [
    'a Pod that restarts for ever fails between two runs',
    withPod((pod) => (overdue(pod), always(pod)), { record: exampleRecord(exampleStates.ended) }),
    'write final status',
  ],
  ['a Pod that waits for a slot fails too', withPod(overdue, { slots: full }), 'reject'],
  ['one whose image is on its way', withPod(overdue, { image: { kind: 'pulling' } }), 'reject'],
  [
    'a Pod in back-off past its deadline is rejected',
    withPod(overdue, {
      record: exampleRecord(exampleStates.configured),
      vm: stopped,
      lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1000 },
    }),
    'reject',
  ],
  [
    'a Pod whose start was refused is rejected past its deadline',
    withPod(overdue, { record: exampleRecord(exampleStates.running), vm: stopped, lastRun: refused }),
    'reject',
  ],
  [
    'a Pod one second before its deadline continues',
    withPod(
      (pod) => {
        overdue(pod);
        if (pod.spec) pod.spec.activeDeadlineSeconds = 61;
      },
      { record: exampleRecord(exampleStates.running), vm: running },
    ),
    'wait for address',
  ],
  [
    'a Pod without startTime has no deadline',
    withPod((pod) => {
      if (pod.spec) pod.spec.activeDeadlineSeconds = 1;
    }),
    'clone',
  ],
  [
    'a run that ended in time keeps its result',
    withPod(overdue, { record: exampleRecord(exampleStates.ended) }),
    'write final status',
  ],
  // Deletion.
  [
    '504 finished Pods were stuck Terminating: deletion is checked before the phase (INC-17, D4)',
    withPod(deletingAndEnded, { record: exampleRecord(exampleStates.ended) }),
    'remove finalizer',
  ],
  ['nobody confirmed the deletion (INC-14)', withPod((pod) => (deleting(pod), withoutFinalizer(pod))), 'delete Pod'],
  [
    'the guest is asked to shut down first (3.10)',
    withPod(deleting, { record: exampleRecord(exampleStates.running), vm: running }),
    'stop gracefully',
  ],
  [
    'the guest has its grace period',
    withPod(deleting, { record: exampleRecord(exampleStates.running, { stopRequestedAt: now - 29_999 }), vm: running }),
    'wait for shutdown',
  ],
  [
    'an agent that crashed before it sent the shutdown request sends the request again',
    withPod(deleting, {
      record: exampleRecord(exampleStates.running, { stopRequestedAt: now - 29_999 }),
      vm: running,
      shutdownMaybeUnsent: true,
    }),
    'stop gracefully',
  ],
  [
    'and no longer than that',
    withPod(deleting, { record: exampleRecord(exampleStates.running, { stopRequestedAt: now - 30_000 }), vm: running }),
    'force stop',
  ],
  [
    'a clock that was set back does not extend the grace period',
    withPod(deleting, { record: exampleRecord(exampleStates.running, { stopRequestedAt: now + 1 }), vm: running }),
    'force stop',
  ],
  [
    'a forced deletion does not wait',
    withPod(
      (pod) => {
        deleting(pod);
        pod.metadata.deletionGracePeriodSeconds = 0;
      },
      { record: exampleRecord(exampleStates.running), vm: running },
    ),
    'force stop',
  ],
  ['a VM without a record is force-stopped', withPod(deleting, { record: 'unreadable', vm: running }), 'force stop'],
  [
    'deletion forgot how it ended (INC-32)',
    withPod(deleting, { record: exampleRecord(exampleStates.running), vm: stopped, lastRun: halted }),
    'end',
  ],
  [
    'deletion forgot how it ended while the agent was down',
    withPod(deleting, { record: exampleRecord(exampleStates.starting), vm: stopped, lastRun: halted }),
    'end',
  ],
  [
    'the final status is written before the VM is deleted',
    withPod(deleting, { record: exampleRecord(exampleStates.ended), vm: stopped }),
    'write final status',
  ],
  [
    'a status that the API server rejects does not block deletion',
    withPod(deleting, { record: exampleRecord(exampleStates.ended), vm: stopped, statusRefused: true }),
    'delete VM',
  ],
  [
    'the VM had vanished, and the Pod was stuck Terminating (INC-402)',
    withPod(deletingAndEnded, { record: exampleRecord(exampleStates.ended) }),
    'remove finalizer',
  ],
  ['deletion with no record did not check the host (INC-404)', withPod(deleting, { vm: stopped }), 'delete VM'],
  [
    'deletes waited for pulls and failures (INC-27)',
    withPod(deleting, {
      image: { kind: 'pulling' },
      lastFailure: { reason: 'ErrImagePull', message: '', retryAt: now + 1000 },
    }),
    'remove finalizer',
  ],
  // Missing Pods.
  [
    'a single not-found answer does not stop a running VM',
    exampleSnapshot({ pod: { notFoundForMs: 119_999 }, record: exampleRecord(exampleStates.running), vm: running }),
    'wait',
  ],
  [
    'an orphan that runs cost a slot for ever (INC-405)',
    exampleSnapshot({ pod: { notFoundForMs: 120_000 }, record: exampleRecord(exampleStates.running), vm: running }),
    'force stop',
  ],
  [
    'the Pod is gone: its disk goes, again and again until it has (INC-405)',
    exampleSnapshot({ pod: { notFoundForMs: 120_000 }, record: exampleRecord(exampleStates.running), vm: stopped }),
    'delete VM',
  ],
  [
    'the record is deleted last',
    exampleSnapshot({ pod: { notFoundForMs: 120_000 }, record: exampleRecord(exampleStates.running) }),
    'delete record',
  ],
  [
    'the record is kept during the grace period: the same UID might come back',
    exampleSnapshot({ pod: { notFoundForMs: 119_999 }, record: exampleRecord(exampleStates.ended) }),
    'wait',
  ],
  // Unknown state, unsupported Pods, earlier failures.
  [
    'an error of tart was read as "no clone" (INC-49, INC-429)',
    exampleSnapshot({ vm: { kind: 'unknown', message: 'timed out' } }),
    'wait',
  ],
  [
    'an unknown VM state also delays deletion',
    withPod(deleting, { vm: { kind: 'unknown', message: 'timed out' } }),
    'wait',
  ],
  [
    'a DaemonSet for Linux took a slot (INC-74)',
    withPod((pod) => void (pod.spec && (pod.spec.os = { name: 'linux' }))),
    'ignore',
  ],
  ['a Pod of two containers', withPod((pod) => void pod.spec?.containers.push({ name: 'b' })), 'reject'],
  [
    'a running VM is not rejected by a newer agent',
    withPod((pod) => void pod.spec?.containers.push({ name: 'b' }), {
      record: exampleRecord(exampleStates.running),
      vm: running,
    }),
    'wait for address',
  ],
  [
    'a failed action waits for its back-off',
    exampleSnapshot({ lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 } }),
    'wait',
  ],
  [
    'a failed action is retried after its back-off',
    exampleSnapshot({ lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now } }),
    'clone',
  ],
  [
    'a VM that ended is noticed whatever failed before (INC-22)',
    exampleSnapshot({
      record: exampleRecord(exampleStates.running),
      vm: stopped,
      lastRun: halted,
      lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 },
    }),
    'end',
  ],
];

describe('decide for a Pod', () => {
  for (const [sentence, snapshot, kind] of table) test(sentence, () => assert.equal(decide(snapshot).kind, kind));

  test('distinguishes a run ended by the deadline from one that ended in time', () => {
    const ending = (finished: number, code: number, stopRequestedAt?: number) => {
      const record = exampleRecord(exampleStates.running, {
        ...(stopRequestedAt !== undefined && { stopRequestedAt }),
      });
      const lastRun = { ...halted, exitedAt: finished, report: { code, at: finished } };
      const decision = decide(withPod(overdue, { now: now + 5000, record, vm: stopped, lastRun }));
      return decision.kind === 'end' ? [decision.ending.reason, decision.ending.exitCode] : decision.kind;
    };
    assert.deepEqual(ending(now - 1, 0), ['Completed', 0]);
    assert.deepEqual(ending(now - 1, 0, now), ['DeadlineExceeded', 143]);
    assert.deepEqual(ending(now, 0), ['DeadlineExceeded', 143]);
    assert.deepEqual(ending(now + 3000, 7), ['DeadlineExceeded', 7]);
  });

  const backedOff: readonly [Decision['kind'], Snapshot][] = [
    ['pull', exampleSnapshot({ image: { kind: 'missing' } })],
    ['clone', exampleSnapshot()],
    ['configure', exampleSnapshot({ record: exampleRecord(exampleStates.cloning), vm: stopped })],
    ['boot', exampleSnapshot({ record: exampleRecord(exampleStates.configured), vm: stopped })],
    ['delete VM', exampleSnapshot({ vm: stopped })],
  ];
  for (const [kind, snapshot] of backedOff)
    test(`waits for the back-off before it retries: ${kind}`, () => {
      const lastFailure = { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 } as const;
      const wait = { kind: 'wait', for: { reason: 'TartCreateFailed', message: 'no' }, until: now + 1 };
      assert.equal(decide(snapshot).kind, kind);
      assert.deepEqual(decide({ ...snapshot, lastFailure }), wait);
    });

  const reasons: readonly [string, Snapshot][] = [
    ['Pulling', exampleSnapshot({ image: { kind: 'pulling' } })],
    ['Pulling 43 %', exampleSnapshot({ image: { kind: 'pulling', percent: 43.7 } })],
    ['Cloning', exampleSnapshot({ image: { kind: 'pulling', stage: 'cloning' } })],
    ['FreeingSpace', exampleSnapshot({ image: { kind: 'pulling', stage: 'freeing space' } })],
    ['WaitingForSlot', exampleSnapshot({ slots: full })],
    ['TartUnreachable', exampleSnapshot({ vm: { kind: 'unknown', message: 'timed out' } })],
    ['PodGone', exampleSnapshot({ pod: { notFoundForMs: 0 }, record: exampleRecord(exampleStates.ended) })],
  ];
  for (const [reason, snapshot] of reasons)
    test(`reports the reason of a wait: ${reason}`, () => {
      const decision = decide(snapshot);
      assert.equal(decision.kind === 'wait' && decision.for.reason, reason);
    });

  test('counts the runs of a Pod that restarts, and reports the seconds of its back-off', () => {
    const ended = withPod(always, { record: exampleRecord(exampleStates.ended, { run: 1 }) });
    assert.deepEqual(decide({ ...ended, now: now + 6500 }), {
      kind: 'wait',
      for: { reason: 'CrashLoopBackOff', message: 'It ended (Completed) and starts again in 3 s.' },
      until: now + 9000,
    });
    assert.deepEqual(decide({ ...ended, now: now + 9000 }), { kind: 'restart', run: 2, previous: exampleTermination });
  });

  test('gives the guest the grace period of the deletion, else that of the Pod, else 30 s', () => {
    const graceMs = (change: Parameters<typeof examplePod>[0]) => {
      const decision = decide(withPod(change, { record: exampleRecord(exampleStates.running), vm: running }));
      return decision.kind === 'stop gracefully' && decision.graceMs;
    };
    const ofPod: typeof overdue = ({ spec }) => void (spec && (spec.terminationGracePeriodSeconds = 45));
    const ofNobody: typeof overdue = ({ spec }) => void delete spec?.terminationGracePeriodSeconds;
    assert.equal(
      graceMs((pod) => (deleting(pod), ofPod(pod))),
      30_000,
    );
    assert.equal(
      graceMs((pod) => (overdue(pod), ofPod(pod))),
      45_000,
    );
    assert.equal(
      graceMs((pod) => (overdue(pod), ofNobody(pod))),
      30_000,
    );
  });

  test('gives a guest that may have missed the shutdown request the rest of its grace period', () => {
    const asked = (stopRequestedAt: number, shutdownMaybeUnsent: boolean) =>
      decide(
        withPod(deleting, {
          record: exampleRecord(exampleStates.running, { stopRequestedAt }),
          vm: running,
          shutdownMaybeUnsent,
        }),
      );
    assert.deepEqual(asked(now - 29_999, true), { kind: 'stop gracefully', graceMs: 1 });
    assert.deepEqual(asked(now, false), { kind: 'wait for shutdown', until: now + 30_000 });
  });

  test('waits for the rest of the grace period of a Pod that is not found', () => {
    const decision = decide(
      exampleSnapshot({ pod: { notFoundForMs: 30_000 }, record: exampleRecord(exampleStates.ended) }),
    );
    assert.equal(decision.kind === 'wait' && decision.until, now + 90_000);
  });

  test('records the image of a run that ended', () => {
    const { image } = exampleRecord(exampleStates.running);
    for (const change of [() => {}, overdue]) {
      const decision = decide(
        withPod(change, { record: exampleRecord(exampleStates.running), vm: stopped, lastRun: halted }),
      );
      assert.equal(decision.kind === 'end' && decision.image, image.reference);
    }
  });
});
