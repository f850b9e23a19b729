import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labels, macTaint } from '@tartan/api';
import type { VmRecord } from '../journal/record.ts';
import { endingOf } from './ending.ts';
import { restartAt } from './restart.ts';
import { slotsOfOthers } from './slots.ts';
import type { Pod, Remains } from './snapshot.ts';
import { type Suitability, suitabilityOf } from './suitability.ts';
import { exampleEnding, exampleNow as now, examplePod, exampleRecord, states } from './testing/example.ts';

type Spec = NonNullable<Pod['spec']>;
const daemon = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'csi', uid: 'd' }];
const shaped = (change: (spec: Spec, pod: Pod) => void): Suitability =>
  suitabilityOf(examplePod((pod) => pod.spec && change(pod.spec, pod)));

describe('whether a Pod can become a virtual machine', () => {
  const rows: [string, (spec: Spec, pod: Pod) => void, Suitability['kind']][] = [
    ['a runner', () => {}, 'suited'],
    ['its system is linux', (spec) => void (spec.os = { name: 'linux' }), 'not for Macs'],
    ['it selects linux', (spec) => void (spec.nodeSelector = { [labels.os]: 'linux' }), 'not for Macs'],
    [
      'a DaemonSet that tolerates everything',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'not for Macs',
    ],
    [
      'even of a shape that could not run: failing it brings the next one',
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
  it('no spec at all', () => assert.equal(suitabilityOf({ apiVersion: 'v1', kind: 'Pod' }).kind, 'unsupported'));
});

describe('how a run ended', () => {
  const record = exampleRecord(states.running);
  const rows: [string, Partial<Remains>, number, string][] = [
    ['the guest reported success', { report: { code: 0, at: now } }, 0, 'Completed'],
    ['the guest reported failure, tart none', { report: { code: 3, at: now }, exitCode: 0 }, 3, 'Error'],
    [
      'the guest’s word comes before that of tart',
      { report: { code: 0, at: now }, ending: { kind: 'crashed', message: '' } },
      0,
      'Completed',
    ],
    ['it halted and said nothing (INC-23)', { ending: { kind: 'halted' }, exitCode: 0 }, 0, 'TartRunExited'],
    ['tart ended with 0 and said nothing', { exitCode: 0 }, 0, 'TartRunExited'],
    [
      'a crash was counted as success (G9)',
      { ending: { kind: 'crashed', message: 'x' }, exitCode: 0 },
      1,
      'TartRunFailed',
    ],
    ['a power cut was counted as success (G9)', { ending: { kind: 'stopped' }, exitCode: 0 }, 1, 'TartRunFailed'],
    ['tart failed', { ending: { kind: 'failed', reason: 'other', message: 'x' }, exitCode: 2 }, 2, 'TartRunFailed'],
    ['tart was killed', { ending: { kind: 'killed', signal: 'SIGKILL' } }, 137, 'TartRunFailed'],
    ['by nobody knows what', { ending: { kind: 'killed', signal: 'SIGNONE' } }, 1, 'TartRunFailed'],
    ['a recovered VM’s end was always success (G8)', {}, 1, 'TartRunFailed'],
  ];
  for (const [sentence, remains, exitCode, reason] of rows)
    it(sentence, () => {
      const ending = endingOf(record, { started: true, ending: { kind: 'unknown' }, ...remains }, now);
      assert.deepEqual([ending.exitCode, ending.reason, ending.startedAt], [exitCode, reason, now - 60_000]);
    });

  const finished = (remains: Partial<Remains>): number =>
    endingOf(record, { started: true, ending: { kind: 'unknown' }, ...remains }, now).finishedAt - now;
  it('dates the end by the process, then by the guest within its run, then by now (INC-32, INC-33)', () => {
    assert.equal(finished({ exitedAt: now - 5, report: { code: 0, at: now - 9 } }), -5);
    assert.equal(finished({ report: { code: 0, at: now - 9 } }), -9);
    assert.equal(finished({ report: { code: 0, at: 0 } }), -60_000);
    assert.equal(finished({ report: { code: 0, at: now * 2 } }), 0);
    assert.equal(finished({}), 0);
  });
});

it('a restart comes at once, then after 10 s, doubled up to 5 min, and at once after a good run', () => {
  const after = (run: number, ranMs = 1000): number =>
    restartAt({ run }, { ...exampleEnding, startedAt: now - ranMs, finishedAt: now }) - now;
  assert.deepEqual(
    [0, 1, 2, 3, 6, 2000].map((run) => after(run)),
    [0, 10_000, 20_000, 40_000, 300_000, 300_000],
  );
  assert.equal(after(9, 600_000), 0);
});

describe('slots', () => {
  const other = (uid: string, createdAt: number, state: VmRecord['state'] = states.cloning): VmRecord =>
    exampleRecord(state, { vm: `vm-${uid}`, pod: { uid, namespace: 'n', name: uid }, createdAt });
  const mine = { uid: 'm', vm: 'vm-m', createdAt: 50 };
  it('count everything that is on, once, and not the Pod itself', () =>
    assert.equal(slotsOfOthers(mine, ['vm-m', 'foreign', 'vm-a'], [other('a', 1, states.running), other('m', 50)]), 2));
  it('are kept for those who came first', () =>
    assert.equal(slotsOfOthers(mine, [], [other('a', 49), other('b', 51), other('c', 1, states.ended)]), 1));
  it('go to one of two who came at once: neither waits for the other', () => {
    const both = [other('a', 50), other('m', 50)];
    assert.equal(slotsOfOthers(mine, [], both), 1);
    assert.equal(slotsOfOthers({ uid: 'a', vm: 'vm-a', createdAt: 50 }, [], both), 0);
  });
});
