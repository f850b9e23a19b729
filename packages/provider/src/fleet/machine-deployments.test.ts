import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, machine, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';
import fc from 'fast-check';
import type { CoreMachineDeployment } from '../core/kinds.ts';
import { decideScaling, type Scaling, templateFacts, wantedMachines } from './machine-deployments.ts';

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

describe('machines to be replaced', () => {
  const behind = (wanting: Live<CoreMachineDeployment>, ...machines: Live<ScalewayAppleSiliconMachine>[]) =>
    wantedMachines([wanting], machines.map(templateFacts), undefined).toBeReplaced;

  it('are those from another template', () => {
    assert.deepEqual(behind(asking('new'), from('old'), from('new')), ['from-old']);
  });
  it('exclude deleted machines, those of another MachineDeployment, and those created by hand', () => {
    const gone = from('old', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const foreign = from('old', { labels: { 'cluster.x-k8s.io/deployment-name': 'other' } });
    assert.deepEqual(behind(asking('new'), gone, foreign, from(undefined)), []);
  });
  it('are none with the strategy OnDelete, in either API version', () => {
    assert.deepEqual(behind(asking('new', { rollout: { strategy: { type: 'OnDelete' } } }), from('old')), []);
    assert.deepEqual(behind(asking('new', { strategy: { type: 'OnDelete' } }), from('old')), []);
    assert.deepEqual(behind(asking('new', { strategy: { type: 'RollingUpdate' } }), from('old')), ['from-old']);
  });
});

describe('a MachineDeployment that the fleet names', () => {
  const revision = (value: string) => ({ 'tuist.dev/machines-revision': value });
  const awaited = (named: string | undefined, ...wanting: Live<CoreMachineDeployment>[]) =>
    wantedMachines(wanting, [], named).deploymentPending;

  it('is pending until the cache has its latest revision', () => {
    assert.equal(awaited('r2'), true);
    assert.equal(awaited('r2', deployment({}, revision('r1'))), true);
    assert.equal(awaited('r2', deployment({}, revision('r1')), deployment({}, revision('r2'))), false);
  });
  it('is never pending for a fleet that names no revision', () => {
    assert.equal(awaited(undefined, deployment({}, revision('r1'))), false);
  });
});

const { appliedReplicas, initialReplicas, heldReplicas, autoscalerMinSize, autoscalerMaxSize, helmRelease } =
  annotations;

type Notes = Record<string, string>;
const applied = (number: number): Notes => ({ [appliedReplicas]: String(number) });
const initial = (number: number): Notes => ({ [initialReplicas]: String(number) });
const sizes = { [autoscalerMinSize]: '8', [autoscalerMaxSize]: '8' };
const held = { [heldReplicas]: '8', ...sizes };
const byHelm = { [helmRelease]: 'tartan' };
const released = { [heldReplicas]: null, [autoscalerMinSize]: null, [autoscalerMaxSize]: null };

const only = (notes: Scaling['annotations']): Scaling => ({ replicas: undefined, annotations: notes });
const to = (replicas: number): Scaling => ({ replicas, annotations: applied(replicas) });

const table: readonly [title: string, wanted: number | undefined, has: number, notes: Notes, Scaling | undefined][] = [
  ['seen for the first time: recorded, not written', 8, 8, {}, only(applied(8))],
  ['seen for the first time, after kubectl scale up', 8, 10, {}, only(applied(8))],
  ['seen for the first time, after kubectl scale down', 8, 6, {}, only(applied(8))],
  ['seen for the first time, without a number', undefined, 8, {}, undefined],
  ['the same as was written', 8, 8, applied(8), undefined],
  ['the same as was written, and somebody scaled up', 8, 10, applied(8), undefined],
  ['the same as was written, and somebody scaled to 0', 8, 0, applied(8), undefined],
  ['a higher number', 10, 8, applied(8), to(10)],
  ['a lower number', 6, 8, applied(8), to(6)],
  ['none at all', 0, 8, applied(8), to(0)],
  ['another number, after kubectl scale', 10, 3, applied(8), to(10)],
  ['another number, which is there already', 10, 10, applied(8), only(applied(10))],
  ['no number any more', undefined, 8, applied(8), undefined],
  ['the number that was written before there was none', 8, 10, applied(8), undefined],
  ['made with the number', 8, 8, initial(8), only(applied(8))],
  ['made with the number, then scaled', 8, 10, initial(8), only(applied(8))],
  ['made with another number, before any manager saw it', 8, 0, initial(0), to(8)],
  ['written since it was made', 8, 3, { ...initial(0), ...applied(8) }, undefined],
  ['sizes that were for the webhook alone', 8, 8, { ...applied(8), ...held, ...byHelm }, only(released)],
  ['the same without a number', undefined, 8, { ...held, ...byHelm }, only(released)],
  [
    'the same with another number',
    9,
    8,
    { ...applied(8), ...held, ...byHelm },
    {
      replicas: 9,
      annotations: { ...applied(9), ...released },
    },
  ],
  ['the same, applied by GitOps', 8, 8, { ...applied(8), ...held }, undefined],
  ['sizes of an autoscaler', 8, 8, { ...applied(8), ...sizes, ...byHelm }, undefined],
];

describe('decideScaling', () => {
  for (const [title, wanted, replicas, annotations, expected] of table)
    it(`${expected?.replicas === undefined ? 'does not write' : 'writes'} replicas: ${title}`, () => {
      assert.deepEqual(decideScaling(wanted, { replicas, annotations }), expected);
    });

  it('writes nothing without a MachineDeployment', () => {
    assert.equal(decideScaling(8, undefined), undefined);
  });

  it('writes replicas once for each change, whatever users set meanwhile', () => {
    const number = fc.integer({ min: 0, max: 12 });
    const step = fc.record({
      wanted: fc.option(number, { nil: undefined }),
      setByUser: fc.option(number, { nil: undefined }),
    });
    fc.assert(
      fc.property(number, fc.array(step, { maxLength: 12 }), (first, steps) => {
        let has = { replicas: first, annotations: initial(first) as Record<string, string> };
        let last = first;
        for (const { wanted, setByUser } of steps) {
          if (setByUser !== undefined) has = { ...has, replicas: setByUser };
          const before = has.replicas;
          const write = decideScaling(wanted, has);
          if (write) {
            const kept = Object.entries({ ...has.annotations, ...write.annotations });
            has = {
              replicas: write.replicas ?? has.replicas,
              annotations: Object.fromEntries(kept.filter((note): note is [string, string] => note[1] !== null)),
            };
          }
          const changed = wanted !== undefined && wanted !== last;
          assert.equal(has.replicas, changed ? wanted : before);
          last = wanted ?? last;
          assert.equal(decideScaling(wanted, has), undefined, 'a second look writes nothing');
        }
      }),
    );
  });
});
