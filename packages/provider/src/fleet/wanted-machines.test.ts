import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { CoreMachineDeployment } from '../core/machine-deployment.ts';
import { wantedMachines } from './wanted-machines.ts';

const alive = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

const deployment = (
  spec: CoreMachineDeployment['spec'],
  annotations: Record<string, string> = {},
): Live<CoreMachineDeployment> => ({ metadata: { ...alive, name: 'runners', annotations }, ...(spec && { spec }) });

const from = (template: string | undefined, more: object = {}): Live<ScalewayAppleSiliconMachine> => {
  const metadata = {
    name: `from-${template ?? 'nothing'}`,
    labels: { 'cluster.x-k8s.io/deployment-name': 'runners' },
    ...(template !== undefined && { annotations: { 'cluster.x-k8s.io/cloned-from-name': template } }),
    ...more,
  };
  return { ...machine.make({ metadata }), metadata: { ...alive, ...metadata } };
};

const asking = (template: string, more: CoreMachineDeployment['spec'] = {}) =>
  deployment({ replicas: 1, template: { spec: { infrastructureRef: { name: template } } }, ...more });

describe('machines that are left behind', () => {
  const behind = (wanting: Live<CoreMachineDeployment>, ...machines: Live<ScalewayAppleSiliconMachine>[]) =>
    wantedMachines([wanting], machines, undefined).leftBehind;

  it('are those from another template', () => {
    assert.deepEqual(behind(asking('new'), from('old'), from('new')), ['from-old']);
  });
  it('are not those that go already, of another MachineDeployment, or made by hand', () => {
    const gone = from('old', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const foreign = from('old', { labels: { 'cluster.x-k8s.io/deployment-name': 'other' } });
    assert.deepEqual(behind(asking('new'), gone, foreign, from(undefined)), []);
  });
  it('may stay where machines are replaced only when somebody deletes them, in either version', () => {
    assert.deepEqual(behind(asking('new', { rollout: { strategy: { type: 'OnDelete' } } }), from('old')), []);
    assert.deepEqual(behind(asking('new', { strategy: { type: 'OnDelete' } }), from('old')), []);
    assert.deepEqual(behind(asking('new', { strategy: { type: 'RollingUpdate' } }), from('old')), ['from-old']);
  });
});

describe('a MachineDeployment that the fleet names', () => {
  const revision = (value: string) => ({ 'tuist.dev/machines-revision': value });
  const awaited = (named: string | undefined, ...wanting: Live<CoreMachineDeployment>[]) =>
    wantedMachines(wanting, [], named).awaited;

  it('is awaited until it was seen as it was written last', () => {
    assert.equal(awaited('r2'), true);
    assert.equal(awaited('r2', deployment({}, revision('r1'))), true);
    assert.equal(awaited('r2', deployment({}, revision('r1')), deployment({}, revision('r2'))), false);
  });
  it('is not awaited by a fleet that names none', () => {
    assert.equal(awaited(undefined, deployment({}, revision('r1'))), false);
  });
});
