import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionsByKind, machine as machineKind, type MachineStatus } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import fc from 'fast-check';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { decide } from './decide.ts';
import type { ActionResult } from './decision.ts';
import { lastAttemptOf } from './last-attempt.ts';
import type { Machine } from '../controller-deps.ts';
import type { Snapshot } from './snapshot.ts';
import { type ReconcileResult, statusOf } from './status.ts';
import { conditionsOf } from './status/conditions.ts';
import { anySnapshot } from './testing/any-snapshot.ts';
import {
  claimedSnapshot,
  driftedSnapshot,
  host,
  machineWith,
  node,
  provisioned,
  readySnapshot,
} from './testing/snapshots.ts';

const made = machineKind.make({ metadata: { name: 'mac-1', namespace: 'fleet' } });
const machine: Machine = {
  ...made,
  metadata: {
    ...made.metadata,
    name: 'mac-1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 3,
  },
};

const toldOf = (snapshot: Snapshot, result: ActionResult): ReconcileResult => ({
  snapshot,
  decision: decide(snapshot),
  result,
  ip: '10.0.0.1',
  nodeAddresses: [],
  releaseID: 'new',
});

const tell = (snapshot: Snapshot, result: ActionResult, status: MachineStatus = snapshot.machine?.status ?? {}) =>
  statusOf(status, machine, toldOf(snapshot, result));

const outcomes: WorkOutcome[] = [
  { kind: 'done', summary: 'b', deferred: [], optionalFailures: [], rebootPending: false },
  { kind: 'done', summary: 'x', deferred: [], optionalFailures: ['y'], rebootPending: true },
  {
    kind: 'done',
    summary: 'b',
    deferred: [{ step: 's', reason: 'the host is not idle' }],
    optionalFailures: [],
    rebootPending: false,
  },
  { kind: 'unreachable', message: 'm' },
  { kind: 'host key changed', message: 'm' },
  { kind: 'not wiped', message: 'm', hostKey: 'k' },
  { kind: 'locked', message: 'm' },
  { kind: 'rejected', step: 's', message: 'm' },
  { kind: 'aborted' },
];
const anyResult: fc.Arbitrary<ActionResult> = fc.oneof(
  fc.constantFrom<ActionResult>(
    { kind: 'started' },
    { kind: 'done' },
    { kind: 'no slot' },
    { kind: 'stale' },
    { kind: 'blocked' },
  ),
  fc.constantFrom(...outcomes).map((outcome): ActionResult => ({ kind: 'pushed', outcome })),
);

const reasonOf = (status: MachineStatus, type: string): string | undefined =>
  getCondition(status.conditions, type)?.reason;

describe('the status of a machine', () => {
  it('is defined for every input and idempotent', () => {
    fc.assert(
      fc.property(anySnapshot, anyResult, (snapshot, result) => {
        const once = tell(snapshot, result);
        assert.deepEqual(tell(snapshot, result, once), once);
      }),
      { numRuns: 3000 },
    );
  });

  it('has every condition, whatever was set before, and the same ones for the same input', () => {
    const blocksMove = { machine: machineWith({}, { blocksMove: true }) };
    const types = conditionsOf({}, { ...claimedSnapshot, ...blocksMove }, { kind: 'add finalizer' })
      .map(({ type }) => type)
      .toSorted();
    assert.deepEqual(types, Object.keys(conditionsByKind.ScalewayAppleSiliconMachine).toSorted());
    fc.assert(
      fc.property(anySnapshot, anySnapshot, (snapshot, other) => {
        const { machine: facts } = snapshot;
        if (facts === undefined || decide(snapshot).kind === 'pause') return;
        const moving = { ...snapshot, machine: { ...facts, blocksMove: true } };
        const conditions = (status: MachineStatus) => conditionsOf(status, moving, decide(snapshot));
        const said = conditions(facts.status);
        assert.deepEqual(said.map(({ type }) => type).toSorted(), types);
        const lastAttempt = lastAttemptOf(facts.status);
        const before = tell(other, { kind: 'done' }).conditions ?? [];
        const remembered = { ...facts.status, ...(lastAttempt && { lastAttempt }) };
        assert.deepEqual(
          conditions({ ...remembered, conditions: before }).slice(0, -1),
          conditions(remembered).slice(0, -1),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('is ready only with a Ready Node on a running Mac that the machine holds', () => {
    fc.assert(
      fc.property(anySnapshot, anyResult, (snapshot, result) => {
        const { ready, phase, conditions } = tell(snapshot, result);
        if (decide(snapshot).kind === 'pause') return;
        assert.equal(ready, getCondition(conditions, 'Ready')?.status === 'True');
        if (!ready) return;
        assert.ok(snapshot.node.kind === 'ours' && snapshot.node.ready === 'True');
        assert.ok(snapshot.host.kind === 'absent' || (snapshot.host.kind === 'present' && !snapshot.host.gone));
        assert.equal(snapshot.machine?.deleting, false);
        assert.ok(['Ready', 'Updating', 'Failed'].includes(phase ?? ''), `${phase}`);
      }),
      { numRuns: 3000 },
    );
  });

  it('never resets provisioned', () => {
    fc.assert(
      fc.property(anySnapshot, anyResult, (snapshot, result) => {
        const before = snapshot.machine?.status.initialization;
        assert.deepEqual(tell(snapshot, result).initialization, before);
      }),
    );
  });

  const table: [string, Snapshot, ActionResult, Partial<MachineStatus>, Record<string, string>][] = [
    [
      'without a Mac',
      { ...claimedSnapshot, machine: machineWith({ serverID: '' }), host: { kind: 'none' } },
      { kind: 'done' },
      { phase: 'Pending' },
      { Ready: 'NotProvisioned' },
    ],
    [
      'claiming',
      { ...claimedSnapshot, host: { ...host, nameVerified: false } },
      { kind: 'done' },
      { phase: 'Adopting' },
      { Provisioned: 'Adopting' },
    ],
    [
      'bootstrapping',
      claimedSnapshot,
      { kind: 'started' },
      { phase: 'Bootstrapping' },
      { Ready: 'NotBootstrapped', NodeReady: 'NotBootstrapped' },
    ],
    [
      'ready',
      readySnapshot,
      { kind: 'done' },
      { phase: 'Ready', ready: true },
      { Ready: 'Ready', HostUpToDate: 'UpToDate', Deleting: 'NotDeleting' },
    ],
    [
      'being rolled',
      driftedSnapshot,
      { kind: 'started' },
      { phase: 'Updating', ready: true },
      { HostUpToDate: 'Rolling' },
    ],
    [
      'rejected while Ready: the phase stays Failed (INC-354)',
      {
        ...driftedSnapshot,
        turn: undefined,
        machine: provisioned({ failedHostConfigHash: 'b', lastUpdateFailureTime: '2026-01-01T11:59:00Z' }),
      },
      { kind: 'done' },
      { phase: 'Failed', ready: true },
      { HostUpToDate: 'RollRejected' },
    ],
    [
      'Node status unknown',
      { ...readySnapshot, node: { ...node, ready: 'Unknown' } },
      { kind: 'done' },
      { phase: 'NotReady', ready: false },
      { NodeReady: 'NodeUnknown', Ready: 'NodeNotReady' },
    ],
    [
      'gone with its Mac',
      { ...readySnapshot, host: { ...host, gone: true } },
      { kind: 'done' },
      { phase: 'NotReady', ready: false },
      { Provisioned: 'HostGone', Ready: 'NotProvisioned' },
    ],
    [
      'deleting',
      { ...readySnapshot, machine: provisioned({}, { deleting: true }) },
      { kind: 'done' },
      { phase: 'Deleting', ready: false },
      { Deleting: 'Releasing', Ready: 'Deleting' },
    ],
  ];
  for (const [name, snapshot, result, fields, reasons] of table)
    it(`${name}: ${fields.phase}`, () => {
      const status = tell(snapshot, result);
      assert.partialDeepStrictEqual(status, fields);
      for (const [type, reason] of Object.entries(reasons)) assert.equal(reasonOf(status, type), reason, type);
      assert.equal(status.observedGeneration, 3);
    });

  const unknown: Snapshot = { ...readySnapshot, desired: { kind: 'problem', message: 'm' } };
  for (const [name, snapshot, releaseID, before, plannedBy] of [
    ['planned by this manager', readySnapshot, 'new', 'old', 'new'],
    ['planned by a manager without a release id', readySnapshot, '', 'old', undefined],
    ['not planned this time', unknown, 'new', 'old', 'old'],
    ['not provisioned yet', claimedSnapshot, 'new', undefined, undefined],
  ] as const)
    it(`${name}: plannedBy is ${plannedBy ?? 'not set'}`, () => {
      const memory = { ...snapshot.machine?.status, ...(before && { plannedBy: before }) };
      const status = statusOf(memory, machine, {
        ...toldOf(snapshot, { kind: 'done' }),
        releaseID: releaseID || undefined,
      });
      assert.equal(status.plannedBy, plannedBy);
    });

  it('changes only the Paused condition while paused', () => {
    const paused: Snapshot = { ...readySnapshot, cluster: { pauseReasons: ['x'], waitingFor: undefined } };
    const status = tell(paused, { kind: 'done' });
    assert.deepEqual(Object.keys(status), [...Object.keys(provisioned().status), 'conditions']);
    assert.deepEqual(
      status.conditions?.map(({ type }) => type),
      ['Paused'],
    );
  });
});
