import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labels, macTaint } from '@tartan/api';
import type { VmRecord } from '../journal/journal.ts';
import { slotsUsedByOthers } from './observe.ts';
import type { LastRun, Pod } from './snapshot.ts';
import { type Admission, admit } from './spec/admission.ts';
import { restartAt, terminationOf } from './termination.ts';
import { exampleNow as now, examplePod, exampleRecord, exampleStates, exampleTermination } from './testing/example.ts';

type Spec = NonNullable<Pod['spec']>;
const daemon = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'csi', uid: 'd' }];
const shaped = (change: (spec: Spec, pod: Pod) => void): Admission =>
  admit(examplePod((pod) => pod.spec && change(pod.spec, pod)));

describe('admission of a Pod', () => {
  const rows: [string, (spec: Spec, pod: Pod) => void, Admission['kind']][] = [
    ['a runner', () => {}, 'suited'],
    ['spec.os is linux', (spec) => void (spec.os = { name: 'linux' }), 'not for Macs'],
    ['the node selector asks for linux', (spec) => void (spec.nodeSelector = { [labels.os]: 'linux' }), 'not for Macs'],
    [
      'a DaemonSet that tolerates everything',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'not for Macs',
    ],
    [
      'a DaemonSet Pod with two containers',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        spec.containers.push({ name: 'b' });
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'not for Macs',
    ],
    [
      'a DaemonSet that tolerates the taint of Macs by name',
      (spec, pod) => {
        spec.tolerations = [{ key: macTaint.key, operator: 'Exists' }];
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'suited',
    ],
    [
      'a DaemonSet that selects a fleet',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        spec.nodeSelector = { [labels.fleet]: 'a' };
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'suited',
    ],
    ['two containers', (spec) => void spec.containers.push({ name: 'b' }), 'unsupported'],
    ['init containers', (spec) => void (spec.initContainers = [{ name: 'i' }]), 'unsupported'],
    ['no image', (spec) => void delete spec.containers[0]?.image, 'unsupported'],
    ['a command', (spec) => void (spec.containers[0] && (spec.containers[0].command = ['sh'])), 'unsupported'],
    [
      'a mounted volume of the cluster',
      (spec) => {
        spec.volumes = [{ name: 'data', emptyDir: {} }];
        if (spec.containers[0]) spec.containers[0].volumeMounts = [{ name: 'data', mountPath: '/data' }];
      },
      'unsupported',
    ],
    ['a volume that nobody mounts', (spec) => void (spec.volumes = [{ name: 'data', emptyDir: {} }]), 'suited'],
    [
      'the token that Kubernetes mounts by itself',
      (spec) => {
        spec.volumes = [{ name: 'kube-api-access', projected: { sources: [] } }];
        if (spec.containers[0]) spec.containers[0].volumeMounts = [{ name: 'kube-api-access', mountPath: '/var' }];
      },
      'suited',
    ],
  ];
  for (const [sentence, change, kind] of rows) it(sentence, () => assert.equal(shaped(change).kind, kind));
  it('a Pod without a spec is rejected', () =>
    assert.equal(admit({ apiVersion: 'v1', kind: 'Pod' }).kind, 'unsupported'));
});

describe('the termination of a run', () => {
  const record = exampleRecord(exampleStates.running);
  const rows: [string, Partial<LastRun>, number, string][] = [
    ['the guest reported success', { report: { code: 0, at: now } }, 0, 'Completed'],
    ['the guest reported failure, tart none', { report: { code: 3, at: now }, exitCode: 0 }, 3, 'Error'],
    [
      'the result of the guest wins over that of tart',
      { report: { code: 0, at: now }, ending: { kind: 'crashed', message: '' } },
      0,
      'Completed',
    ],
    ['the guest halted without a report (INC-23)', { ending: { kind: 'halted' }, exitCode: 0 }, 0, 'TartRunExited'],
    ['tart exited with 0 without output', { exitCode: 0 }, 0, 'TartRunExited'],
    [
      'a crash was counted as success (INC-409)',
      { ending: { kind: 'crashed', message: 'x' }, exitCode: 0 },
      1,
      'TartRunFailed',
    ],
    ['a power cut was counted as success (INC-409)', { ending: { kind: 'stopped' }, exitCode: 0 }, 1, 'TartRunFailed'],
    ['tart failed', { ending: { kind: 'failed', reason: 'other', message: 'x' }, exitCode: 2 }, 2, 'TartRunFailed'],
    ['tart was killed', { ending: { kind: 'killed', signal: 'SIGKILL' } }, 137, 'TartRunFailed'],
    ['tart was killed by an unknown signal', { ending: { kind: 'killed', signal: 'SIGNONE' } }, 1, 'TartRunFailed'],
    ['a recovered VM’s end was always success (INC-409)', {}, 1, 'TartRunFailed'],
  ];
  for (const [sentence, remains, exitCode, reason] of rows)
    it(sentence, () => {
      const ending = terminationOf(record, { started: true, ending: { kind: 'unknown' }, ...remains }, now);
      assert.deepEqual([ending.exitCode, ending.reason, ending.startedAt], [exitCode, reason, now - 60_000]);
    });

  const finished = (remains: Partial<LastRun>): number =>
    terminationOf(record, { started: true, ending: { kind: 'unknown' }, ...remains }, now).finishedAt - now;
  it('takes finishedAt from the process, then from the guest, then from the clock (INC-32, INC-33)', () => {
    assert.equal(finished({ exitedAt: now - 5, report: { code: 0, at: now - 9 } }), -5);
    assert.equal(finished({ report: { code: 0, at: now - 9 } }), -9);
    assert.equal(finished({ report: { code: 0, at: 0 } }), -60_000);
    assert.equal(finished({ report: { code: 0, at: now * 2 } }), 0);
    assert.equal(finished({}), 0);
  });
});

it('restart back-off: none, then 10 s, doubled up to 5 min, reset after a run of 10 min', () => {
  const after = (run: number, ranMs = 1000): number =>
    restartAt({ run }, { ...exampleTermination, startedAt: now - ranMs, finishedAt: now }) - now;
  assert.deepEqual(
    [0, 1, 2, 3, 6, 2000].map((run) => after(run)),
    [0, 10_000, 20_000, 40_000, 300_000, 300_000],
  );
  assert.equal(after(9, 600_000), 0);
});

describe('slots', () => {
  const other = (uid: string, createdAt: number, state: VmRecord['state'] = exampleStates.cloning): VmRecord =>
    exampleRecord(state, { vm: `vm-${uid}`, pod: { uid, namespace: 'n', name: uid }, createdAt });
  const mine = { uid: 'm', vm: 'vm-m', createdAt: 50 };
  it('count every running VM once, without the Pod itself', () =>
    assert.equal(
      slotsUsedByOthers(mine, ['vm-m', 'foreign', 'vm-a'], [other('a', 1, exampleStates.running), other('m', 50)]),
      2,
    ));
  it('are reserved for older Pods', () =>
    assert.equal(slotsUsedByOthers(mine, [], [other('a', 49), other('b', 51), other('c', 1, exampleStates.ended)]), 1));
  it('go to one of two Pods of the same age', () => {
    const both = [other('a', 50), other('m', 50)];
    assert.equal(slotsUsedByOthers(mine, [], both), 1);
    assert.equal(slotsUsedByOthers({ uid: 'a', vm: 'vm-a', createdAt: 50 }, [], both), 0);
  });
});
