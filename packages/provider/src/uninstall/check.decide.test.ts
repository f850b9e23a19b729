import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { machine, macHost, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { decide, type Decision, refusalMessage, type Snapshot } from './check.ts';

const live = { uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const noon = '2026-01-02T12:00:00Z';

const machineCalled = (name: string, more: object = {}): Snapshot['machines'][number] => {
  const metadata = { name, namespace: 'macs', ...live, ...more };
  return { ...machine.make({ metadata }), metadata };
};

const release: NonNullable<MacHostSpec['release']> = {
  poolPrefix: 'tuist-pool-',
  reason: 'MachineDeleted',
  requestedAt: noon,
};
const held = { apiVersion: 'a/v1', kind: 'K', namespace: 'macs', name: 'm', uid: 'u' };

const host = (spec: Partial<MacHostSpec>, state?: NonNullable<MacHostStatus['state']>): Snapshot['hosts'][number] => {
  const metadata = { name: 'mac', ...live };
  return {
    ...macHost.make({ metadata, spec: { zone: 'fr-par-1', ...spec } }),
    metadata,
    ...(state && { status: { state } }),
  };
};

const abandoned = (found: Snapshot['hosts'][number]): Snapshot['hosts'][number] => ({
  ...found,
  metadata: { ...found.metadata, annotations: { 'tuist.dev/abandon': 'it is locked' } },
});

describe('whether a release can be uninstalled', () => {
  const nothing = { machines: [], hosts: [] };
  const cases: readonly [there: string, found: Snapshot, kind: Decision['kind']][] = [
    ['nothing', nothing, 'go'],
    ['a machine', { ...nothing, machines: [machineCalled('a')] }, 'refuse'],
    [
      'a machine that is being deleted',
      { ...nothing, machines: [machineCalled('a', { deletionTimestamp: noon })] },
      'refuse',
    ],
    ['a Mac in the pool', { ...nothing, hosts: [host({}, 'pool')] }, 'go'],
    ['a new MacHost without a status', { ...nothing, hosts: [host({})] }, 'go'],
    ['a Mac being released', { ...nothing, hosts: [host({ release }, 'releasing')] }, 'refuse'],
    ['a requested release that has not started', { ...nothing, hosts: [host({ release }, 'held')] }, 'refuse'],
    [
      'a machine and a Mac being released',
      { machines: [machineCalled('a')], hosts: [host({ release }, 'releasing')] },
      'refuse',
    ],
    ['one that cannot be wiped', { ...nothing, hosts: [host({ release }, 'quarantined')] }, 'go'],
    ['one that a person has abandoned', { ...nothing, hosts: [abandoned(host({ release }, 'releasing'))] }, 'go'],
    ['a Mac in quarantine', { ...nothing, hosts: [host({}, 'quarantined')] }, 'go'],
    ['a Mac whose machine is gone', { ...nothing, hosts: [host({ consumerRef: held }, 'stranded')] }, 'go'],
  ];
  for (const [there, found, kind] of cases) test(`${there}: ${kind}`, () => assert.equal(decide(found).kind, kind));

  test('everything that blocks the uninstall is named', () => {
    const found = { machines: [machineCalled('a'), machineCalled('b')], hosts: [host({ release }), host({}, 'pool')] };
    assert.deepEqual(decide(found), { kind: 'refuse', machines: ['a', 'b'], hosts: ['mac'] });
  });
});

describe('the message of a refusal', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);
  const report = (machines: readonly string[], hosts: readonly string[]): string =>
    refusalMessage({ kind: 'refuse', machines, hosts }, { namespace: 'macs', name: 'tartan' });

  test('says what is left, why it matters, and what to do', () => {
    const text = report(['a', 'b'], ['mac']);
    assert.match(text, /^tartan is not uninstalled/);
    assert.match(text, /\n {2}2 machines in the namespace macs: a, b\n {2}1 Mac being released to the pool: mac\n/);
    assert.match(text, /claimed and unwiped.*billed/);
    assert.match(text, /\n {2}kubectl -n macs scale machinedeployment --all --replicas 0\n/);
    assert.match(text, /\n {2}helm uninstall tartan --namespace macs --no-hooks\n/);
    assert.match(text, /\n {2}helm rollback tartan REVISION --namespace macs\n$/);
  });

  test('lists the first ten names, and how many more there are', () => {
    assert.match(report(names(10), []), /10 machines in the namespace macs: m0, .*, m9\n/);
    assert.match(report(names(12), []), /12 machines in the namespace macs: m0, .*, m9 and 2 more\n/);
  });

  test('does not advise to scale down when only Macs are waited for', () => {
    assert.doesNotMatch(report([], ['mac']), /scale|machines? in the namespace/);
  });
});
