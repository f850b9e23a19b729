import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { VmRecord } from '../journal/journal.ts';
import { decide, type Decision } from './decide.ts';
import type { PodStatus, Snapshot } from './snapshot.ts';
import { statusOf } from './status.ts';
import { arbitrarySnapshot } from './testing/arbitrary-snapshot.ts';
import {
  exampleNow as now,
  examplePod,
  exampleProcess,
  exampleRecord,
  exampleSnapshot,
  exampleStates,
  exampleTermination,
} from './testing/example.ts';

const address = '192.168.64.2';
const onAndReady: Partial<Snapshot> = {
  record: exampleRecord({ ...exampleStates.running, address }),
  vm: { kind: 'running', process: exampleProcess, address },
};
const shown = (more: Partial<Snapshot>, decision?: Decision): PodStatus => {
  const snapshot = exampleSnapshot(more);
  return statusOf(snapshot, decision ?? decide(snapshot), '10.0.0.7') ?? assert.fail();
};
const container = (status: PodStatus) => status.containerStatuses?.[0] ?? assert.fail('no container');
const waitingFor = (more: Partial<Snapshot>): string | undefined => container(shown(more)).state?.waiting?.reason;
const condition = (status: PodStatus, type: string) =>
  status.conditions?.find((one) => one.type === type) ?? assert.fail(type);
const podWith = (status: PodStatus, policy: 'Always' | 'Never' = 'Never') =>
  examplePod((pod) => {
    pod.status = status;
    if (pod.spec) pod.spec.restartPolicy = policy;
  });

describe('the status of a Pod', () => {
  const ways: [string, Partial<Snapshot>, string][] = [
    ['a pull that begins', { image: { kind: 'missing' } }, 'Pulling'],
    ['a pull on its way', { image: { kind: 'pulling', percent: 43 } }, 'Pulling 43 %'],
    ['a clone', {}, 'Cloning'],
    [
      'a clone that gets its identity',
      { record: exampleRecord(exampleStates.cloning), vm: { kind: 'stopped' } },
      'Cloning',
    ],
    ['a start', { record: exampleRecord(exampleStates.configured), vm: { kind: 'stopped' } }, 'Booting'],
    [
      'no address yet',
      { record: exampleRecord(exampleStates.running), vm: { kind: 'running', process: exampleProcess } },
      'WaitingForIP',
    ],
    ['no slot', { slots: { total: 2, usedByOthers: 2 } }, 'WaitingForSlot'],
    ['a failure', { lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 } }, 'TartCreateFailed'],
  ];
  for (const [sentence, more, reason] of ways)
    it(`${sentence}: ${reason}`, () => {
      assert.equal(waitingFor(more), reason);
      assert.equal(shown(more).phase, 'Pending');
      assert.equal(condition(shown(more), 'Ready').reason, 'ContainersNotReady');
    });

  it('a failure is shown as the reason of the Pod, and cleared afterwards', () => {
    const failed = shown({ lastFailure: { reason: 'TartCreateFailed', message: 'no', retryAt: now + 1 } });
    assert.deepEqual([failed.reason, failed.message], ['TartCreateFailed', 'no']);
    assert.equal(shown({ pod: podWith(failed) }).reason, undefined);
  });

  it('running: READY 1/1 with address, start and every condition (INC-31)', () => {
    const status = shown(onAndReady);
    assert.equal(status.phase, 'Running');
    assert.deepEqual(status.podIPs, [{ ip: address }]);
    assert.deepEqual([status.podIP, status.hostIP], [address, '10.0.0.7']);
    assert.deepEqual(container(status), {
      name: 'runner',
      image: 'ghcr.io/example/macos:26',
      imageID: 'sha256:1',
      containerID: 'tart://runners-runner-1-uid-1',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: '2026-06-01T11:59:00Z' } },
    });
    const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
    for (const type of types)
      assert.deepEqual(condition(status, type), { type, status: 'True', lastTransitionTime: '2026-06-01T12:00:00Z' });
  });

  it('is stable over time and keeps fields of others', () => {
    const status = shown(onAndReady);
    status.qosClass = 'Guaranteed';
    status.conditions?.push({ type: 'example.com/theirs', status: 'True' });
    assert.deepEqual(shown({ ...onAndReady, now: now + 60_000, pod: podWith(status) }), status);
  });

  it('an unmet readiness gate keeps the Pod unready', () => {
    const pod = examplePod(({ spec }) => void (spec && (spec.readinessGates = [{ conditionType: 'a/b' }])));
    const status = shown({ ...onAndReady, pod });
    assert.equal(condition(status, 'Ready').status, 'False');
    assert.equal(condition(status, 'ContainersReady').status, 'True');
    status.conditions?.push({ type: 'a/b', status: 'True' });
    const opened = examplePod((one) => {
      one.status = status;
      if (one.spec) one.spec.readinessGates = [{ conditionType: 'a/b' }];
    });
    assert.equal(condition(shown({ ...onAndReady, pod: opened }), 'Ready').status, 'True');
  });

  it('an unreadable lease or an unreachable tart changes nothing (INC-410)', () => {
    const pod = podWith(shown(onAndReady));
    const noLease = shown({ ...onAndReady, pod, vm: { kind: 'running', process: exampleProcess } });
    const noTart = shown({ ...onAndReady, pod, vm: { kind: 'unknown', message: 'timed out' } });
    for (const status of [noLease, noTart]) assert.deepEqual(status, pod.status);
  });

  it('termination: phase, exit code, reason and times (INC-32)', () => {
    const record = exampleRecord(exampleStates.ended);
    const status = shown({ record, pod: podWith(shown(onAndReady)) });
    assert.deepEqual([status.phase, status.reason, status.podIP], ['Succeeded', 'TartRunExited', address]);
    assert.deepEqual(container(status).state, {
      terminated: {
        containerID: 'tart://runners-runner-1-uid-1',
        exitCode: 0,
        reason: 'Completed',
        startedAt: '2026-06-01T11:59:00Z',
        finishedAt: '2026-06-01T11:59:59Z',
      },
    });
    assert.equal(condition(status, 'Ready').reason, 'PodCompleted');
    // And stays unchanged afterwards.
    assert.deepEqual(shown({ now: now + 5000, record, pod: podWith(status), vm: { kind: 'stopped' } }), status);
  });

  it('a failed run is Failed, with the tail of a long message', () => {
    const ending = { ...exampleTermination, exitCode: 1, reason: 'TartRunFailed', message: `${'x'.repeat(9000)}why` };
    const status = shown({ record: exampleRecord({ kind: 'ended', ending }) });
    assert.equal(status.phase, 'Failed');
    assert.equal(condition(status, 'Ready').reason, 'PodFailed');
    const message = container(status).state?.terminated?.message ?? '';
    assert.ok(message.length <= 4096 && message.endsWith('why'));
  });

  it('a terminal phase set by another client is kept; the container shows its own termination', () => {
    const pod = podWith({ phase: 'Failed', reason: 'Evicted', message: 'theirs' });
    const status = shown({ record: exampleRecord(exampleStates.ended), pod });
    assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'Evicted', 'theirs']);
    assert.equal(container(status).state?.terminated?.reason, 'Completed');
  });

  it('between two runs the phase stays Running, unready, with lastState', () => {
    const before = podWith(shown(onAndReady), 'Always');
    const record: VmRecord = exampleRecord(exampleStates.ended, { run: 1 });
    const status = shown({ record, pod: before });
    assert.equal(status.phase, 'Running');
    assert.equal(condition(status, 'Ready').status, 'False');
    assert.equal(container(status).state?.waiting?.reason, 'CrashLoopBackOff');
    assert.equal(container(status).lastState?.terminated?.reason, 'Completed');
    const next = shown({
      ...onAndReady,
      record: exampleRecord({ ...exampleStates.running, address }, { run: 2, previous: exampleTermination }),
      pod: podWith(status, 'Always'),
    });
    assert.deepEqual([container(next).restartCount, container(next).ready], [2, true]);
    assert.equal(container(next).lastState?.terminated?.exitCode, 0);
  });

  it('a Pod that is not for Macs: Pending with the reason, without startTime', () => {
    const pod = examplePod(({ spec }) => void (spec && (spec.os = { name: 'linux' })));
    const status = shown({ pod });
    assert.deepEqual([status.phase, status.reason, status.startTime], ['Pending', 'NotForMacs', undefined]);
  });

  it('an unsupported Pod: Failed with the reason', () => {
    const status = shown({ pod: examplePod(({ spec }) => void spec?.containers.push({ name: 'b' })) });
    assert.deepEqual([status.phase, status.reason], ['Failed', 'UnsupportedPod']);
    assert.equal(status.containerStatuses, undefined);
  });

  it('undefined for a deleted Pod', () =>
    assert.equal(
      statusOf(exampleSnapshot({ pod: { notFoundForMs: 0 } }), { kind: 'delete record' }, undefined),
      undefined,
    ));

  it('ended by activeDeadlineSeconds: Failed with reason DeadlineExceeded', () => {
    const overdue = examplePod((pod) => {
      pod.status = { phase: 'Running', startTime: '2026-06-01T11:59:00Z' };
      if (pod.spec) pod.spec.activeDeadlineSeconds = 60;
    });
    const ended = shown({ pod: overdue, record: exampleRecord(exampleStates.configured), vm: { kind: 'stopped' } });
    assert.deepEqual(
      [ended.phase, ended.reason, ended.message],
      ['Failed', 'DeadlineExceeded', 'The Pod was active on the Node for longer than its activeDeadlineSeconds, 60 s.'],
    );
    const ending = { ...exampleTermination, exitCode: 143, reason: 'DeadlineExceeded' };
    const stopped = shown({ pod: overdue, record: exampleRecord({ kind: 'ended', ending }) });
    assert.deepEqual([stopped.phase, stopped.reason], ['Failed', 'DeadlineExceeded']);
    assert.equal(container(stopped).state?.terminated?.exitCode, 143);
    assert.equal(shown({ pod: podWith(stopped) }).reason, 'DeadlineExceeded');
  });

  it('the phase never goes back, and the function is idempotent', () => {
    const rank: Record<string, number> = { Pending: 0, Running: 1, Succeeded: 2, Failed: 2 };
    fc.assert(
      fc.property(arbitrarySnapshot, (snapshot) => {
        const { pod } = snapshot;
        if (!('metadata' in pod)) return;
        const decision = decide(snapshot);
        const status = statusOf(snapshot, decision, '10.0.0.7') ?? assert.fail();
        const before = pod.status?.phase ?? 'Pending';
        const after = status.phase ?? assert.fail();
        assert.ok((rank[after] ?? 0) >= (rank[before] ?? 0) && (rank[before] !== 2 || after === before));
        const again = statusOf({ ...snapshot, now: now + 5000, pod: { ...pod, status } }, decision, '10.0.0.7');
        assert.deepEqual(again, status);
      }),
      { numRuns: 2000 },
    );
  });
});
