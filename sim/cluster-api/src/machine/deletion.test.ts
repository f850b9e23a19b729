import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { annotations, hooks } from '../names.ts';
import { decideDeletion, type Deletion } from './deletion.ts';
import type { DrainPlan } from './drain.ts';
import type { DeletionFacts, Snapshot } from './snapshot.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const since = (seconds: number): string => new Date(now - seconds * 1000).toISOString();
const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Host', name: 'a' };

const live = (name: string, more: object = {}) => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: since(1000), ...more },
});
const external = (object: object | undefined) => ({ ref, kind: undefined, contract: 'v1beta2', object }) as never;

const empty: DrainPlan = { evict: [], evictLater: [], terminating: [], waitCompleted: [], waitLater: [] };
const busy: DrainPlan = { ...empty, waitCompleted: ['default/job'] };

interface Facts {
  notes: Record<string, string>;
  node: boolean;
  cordoned: boolean;
  plan: DrainPlan;
  host: 'there' | 'leaving' | 'gone';
  clusterLeaves: boolean;
  controlPlane: 'elsewhere' | 'here' | 'leaving' | 'none';
  controlPlaneMachines: number;
  connected: boolean;
  timeoutSeconds: number;
  drainingForSeconds: number | undefined;
  terminateHookSeen: boolean;
}

const usual: Facts = {
  notes: {},
  node: true,
  cordoned: true,
  plan: empty,
  host: 'there',
  clusterLeaves: false,
  controlPlane: 'elsewhere',
  controlPlaneMachines: 0,
  connected: true,
  timeoutSeconds: 0,
  drainingForSeconds: undefined,
  terminateHookSeen: false,
};

const worldOf = (facts: Facts): [Snapshot, DeletionFacts] => {
  const leaving = { deletionTimestamp: since(5) };
  const plane = {
    elsewhere: { ...live('p'), status: { externalManagedControlPlane: true } },
    here: live('p'),
    leaving: { ...live('p', leaving), status: { externalManagedControlPlane: true } },
    none: undefined,
  }[facts.controlPlane];
  const deletion = {
    ...(facts.drainingForSeconds !== undefined && { nodeDrainStartTime: since(facts.drainingForSeconds) }),
    ...(facts.terminateHookSeen && { waitForPreTerminateHookStartTime: since(3) }),
  };
  return [
    {
      machine: {
        ...live('m', { ...leaving, annotations: facts.notes }),
        spec: { deletion: { nodeDrainTimeoutSeconds: facts.timeoutSeconds } },
        status: { deletion, ...(facts.node && { nodeRef: { name: 'node-a' } }) },
      },
      cluster: live('c', facts.clusterLeaves ? leaving : {}),
      machineSet: undefined,
      machineDeployment: undefined,
      infrastructure: external(facts.host === 'gone' ? undefined : live('h', facts.host === 'leaving' ? leaving : {})),
      nodes: [],
      connected: facts.connected,
      now,
    },
    {
      controlPlane: external(plane),
      controlPlaneMachines: facts.controlPlaneMachines,
      node:
        facts.node && facts.connected ? { cordoned: facts.cordoned, unreachable: false, drain: facts.plan } : undefined,
    },
  ];
};

const preDrain = `${hooks.preDrain}/a`;
const preTerminate = `${hooks.preTerminate}/b`;
const drain: Deletion = { kind: 'drain', plan: busy, unreachable: false };
const hostGoes: Deletion = { kind: 'deleteInfrastructure' };

const table: [string, Partial<Facts>, Deletion][] = [
  ['nothing is on the Node', {}, hostGoes],
  ['the Node takes new Pods yet', { cordoned: false }, { kind: 'cordon', node: 'node-a' }],
  ['a Pod is on the Node', { plan: busy }, drain],
  [
    'a hook before the drain',
    { notes: { [preDrain]: '', [preTerminate]: '' }, plan: busy },
    {
      kind: 'wait',
      for: 'preDrainHooks',
      hooks: [preDrain],
    },
  ],
  ['a hook before the end, and a Pod', { notes: { [preTerminate]: '' }, plan: busy }, drain],
  [
    'a hook before the end',
    { notes: { [preTerminate]: '' } },
    {
      kind: 'wait',
      for: 'preTerminateHooks',
      hooks: [preTerminate],
    },
  ],
  ['a Pod came back after the hook before the end', { terminateHookSeen: true, plan: busy }, hostGoes],
  ['the time to drain is not over', { plan: busy, timeoutSeconds: 60, drainingForSeconds: 59 }, drain],
  ['the time to drain is over', { plan: busy, timeoutSeconds: 60, drainingForSeconds: 60 }, hostGoes],
  ['there is no limit', { plan: busy, timeoutSeconds: 0, drainingForSeconds: 1e6 }, drain],
  ['the Machine is not to be drained', { plan: busy, notes: { [annotations.excludeNodeDraining]: '' } }, hostGoes],
  ['nobody can look at the Node', { connected: false }, { kind: 'cannotDrain' }],
  [
    'nobody can look, but the drain is excluded',
    { connected: false, notes: { [annotations.excludeNodeDraining]: '' } },
    hostGoes,
  ],
  ['the host goes already', { plan: busy, host: 'leaving' }, { kind: 'waitForInfrastructure' }],
  ['the host is gone', { plan: busy, host: 'gone' }, { kind: 'finish', node: 'node-a' }],
  ['it never had a Node', { node: false, host: 'gone' }, { kind: 'finish', node: undefined }],
  ['the Cluster goes', { plan: busy, clusterLeaves: true }, hostGoes],
  [
    'the Cluster goes, and the host is gone',
    { host: 'gone', clusterLeaves: true },
    { kind: 'finish', node: undefined },
  ],
  ['the control plane is not managed elsewhere', { plan: busy, controlPlane: 'here' }, hostGoes],
  ['the control plane is made of Machines', { plan: busy, controlPlane: 'here', controlPlaneMachines: 1 }, drain],
  ['the control plane goes', { plan: busy, controlPlane: 'leaving', controlPlaneMachines: 1 }, hostGoes],
  ['there is no control plane', { plan: busy, controlPlane: 'none' }, hostGoes],
  [
    'hooks before the drain hold nothing up when the Cluster goes',
    { notes: { [preDrain]: '' }, clusterLeaves: true },
    hostGoes,
  ],
];

describe('the next step of the deletion of a Machine', () => {
  for (const [name, facts, decision] of table)
    it(`${name}: ${decision.kind}`, () => {
      assert.deepEqual(decideDeletion(...worldOf({ ...usual, ...facts })), decision);
    });

  it('is total, and never deletes a host while a Pod is waited for', () => {
    const any: fc.Arbitrary<Facts> = fc.record({
      notes: fc.constantFrom({}, { [preDrain]: '' }, { [preTerminate]: '' }, { [annotations.excludeNodeDraining]: '' }),
      node: fc.boolean(),
      cordoned: fc.boolean(),
      plan: fc.constantFrom(empty, busy),
      host: fc.constantFrom('there', 'leaving', 'gone'),
      clusterLeaves: fc.boolean(),
      controlPlane: fc.constantFrom('elsewhere', 'here', 'leaving', 'none'),
      controlPlaneMachines: fc.nat(1),
      connected: fc.boolean(),
      timeoutSeconds: fc.constantFrom(0, 60),
      drainingForSeconds: fc.constantFrom(undefined, 10, 100),
      terminateHookSeen: fc.boolean(),
    });
    fc.assert(
      fc.property(any, (facts) => {
        const { kind } = decideDeletion(...worldOf(facts));
        const isDrainable =
          facts.node &&
          facts.host === 'there' &&
          !facts.clusterLeaves &&
          facts.controlPlane === 'elsewhere' &&
          !facts.terminateHookSeen &&
          !(annotations.excludeNodeDraining in facts.notes) &&
          !(facts.timeoutSeconds > 0 && (facts.drainingForSeconds ?? 0) >= facts.timeoutSeconds);
        if (isDrainable && facts.plan === busy) assert.notEqual(kind, 'deleteInfrastructure');
        if (facts.host !== 'gone') assert.notEqual(kind, 'finish');
      }),
    );
  });
});
