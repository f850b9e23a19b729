import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type MacFleet, macFleet, type MacFleetStatus } from '@tartan/api';
import { getCondition, type Live } from '@tartan/kube';
import { decide, type Snapshot } from './decide.ts';
import { statusOf } from './status.ts';
import { ago, fleetFacts, machineFacts, minute, now, snapshotOf, updated } from './testing/fixtures.ts';
import { kstatusOf } from './testing/kstatus.ts';

const metadata = { name: 'runners', namespace: 'macs', generation: 3 };
const identity = { uid: 'u', resourceVersion: '1', creationTimestamp: ago(60) };
const fleet: Live<MacFleet> = { ...macFleet.make({ metadata }), metadata: { ...metadata, ...identity } };

const statusFor = (snapshot: Snapshot): MacFleetStatus => {
  const decision = decide(snapshot);
  assert.equal(decision.kind, 'roll');
  return statusOf(fleet, snapshot, decision);
};

const down = { ready: false, notReadySince: now - 60 * minute };
const stop = { reason: 'PushRejected' as const, machine: 'a', message: 'No space left', at: ago(10) };
const stalled = { stalledRevision: 'r2', stop };

type Row = [name: string, Snapshot, reason: string, kstatus: ReturnType<typeof kstatusOf>, message: RegExp];

const check = (rows: readonly Row[]): void => {
  for (const [name, snapshot, reason, kstatus, message] of rows)
    it(`${name}: ${reason}, and kstatus is ${kstatus}`, () => {
      const status = statusFor(snapshot);
      const ready = getCondition(status.conditions, 'Ready');
      assert.equal(ready?.reason, reason);
      assert.match(ready.message, message);
      assert.equal(kstatusOf({ ...fleet, status }), kstatus);
    });
};

describe('a fleet with waitForMacs', () => {
  check([
    ['all is well', snapshotOf([updated('a')]), 'UpToDate', 'Current', /desired state/],
    ['no machine desired, no machine exists', snapshotOf([]), 'UpToDate', 'Current', /desired state/],
    ['one missing', { ...snapshotOf([updated('a')]), desired: 2 }, 'MachinesMissing', 'InProgress', /^2 machines/],
    [
      'a MachineDeployment that was not seen yet',
      { ...snapshotOf([updated('a')]), deploymentPending: true },
      'WaitingForMachineDeployment',
      'InProgress',
      /in its latest version/,
    ],
    [
      'two that are from another template',
      { ...snapshotOf([updated('a'), updated('b')]), toBeReplaced: ['b', 'a'] },
      'Replacing',
      'InProgress',
      /^From another template: a, b\.$/,
    ],
    ['one down', snapshotOf([updated('a', down)]), 'MachinesNotReady', 'InProgress', /^Not Ready: a\.$/],
    ['a roll', snapshotOf([machineFacts('a')]), 'Rolling', 'InProgress', /Being rolled: a/],
    ['a pause', snapshotOf([machineFacts('a')], {}, { paused: true }), 'Paused', 'InProgress', /spec\.paused/],
    ['a stop', snapshotOf([machineFacts('a')], stalled), 'Stalled', 'Failed', /No space left/],
  ]);
});

describe('a fleet without waitForMacs', () => {
  const patient = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    fleet: { ...(snapshot.fleet ?? fleetFacts()), waitForMacs: false },
  });
  check([
    ['all is well', patient(snapshotOf([updated('a')])), 'UpToDate', 'Current', /desired state/],
    [
      'one that is from another template',
      { ...patient(snapshotOf([updated('a')])), toBeReplaced: ['a'] },
      'UpToDate',
      'Current',
      /desired state/,
    ],
    [
      'none there yet',
      { ...patient(snapshotOf([])), desired: 2 },
      'ReadyButShort',
      'Current',
      /^2 machines are wanted, 0 are there, 0 Ready, 0 up to date\. spec\.waitForMacs is false\.$/,
    ],
    [
      'one missing, one down',
      { ...patient(snapshotOf([updated('a'), updated('b', down)])), desired: 3 },
      'ReadyButShort',
      'Current',
      /^3 machines are wanted, 2 are there, 1 Ready, 2 up to date\. Not Ready: b\. spec\.waitForMacs is false\.$/,
    ],
    [
      'one down that is to be rolled',
      patient(snapshotOf([updated('a'), machineFacts('b', down)])),
      'ReadyButShort',
      'Current',
      /2 are there, 1 Ready, 1 up to date\. Not Ready: b\./,
    ],
    [
      'one down, and one that has refused and is Ready',
      patient(snapshotOf([machineFacts('a', { failed: 'a-2', lastFailure: now }), machineFacts('b', down)])),
      'Rolling',
      'InProgress',
      /To be rolled: a \(has refused\), b \(not Ready\)/,
    ],
    ['a roll', patient(snapshotOf([machineFacts('a'), machineFacts('b', down)])), 'Rolling', 'InProgress', /rolled: a/],
    [
      'a pause',
      patient(snapshotOf([machineFacts('a'), updated('b', down)], {}, { paused: true })),
      'Paused',
      'InProgress',
      /spec\.paused/,
    ],
    ['a stop', patient(snapshotOf([machineFacts('a'), updated('b', down)], stalled)), 'Stalled', 'Failed', /No space/],
  ]);
});

describe('a fleet that names its manager version', () => {
  const named = (snapshot: Snapshot, releaseID: string | undefined, waitForMacs = true): Snapshot => ({
    ...snapshot,
    releaseID,
    fleet: { ...(snapshot.fleet ?? fleetFacts()), releaseID: 'new', waitForMacs },
  });
  const planned = (name: string, facts = {}) => updated(name, { plannedBy: 'new', ...facts });
  const well = snapshotOf([planned('a')]);
  check([
    ['the one that is named', named(well, 'new'), 'UpToDate', 'Current', /desired state/],
    [
      'another one',
      named(well, 'old'),
      'WaitingForManager',
      'InProgress',
      /^1 of 1 are up to date by the manager of release old\. That of release new has not looked yet\.$/,
    ],
    [
      'one that has no name',
      named(well, undefined),
      'WaitingForManager',
      'InProgress',
      /^1 of 1 are up to date by a manager without --release-id\. /,
    ],
    [
      'another one, of a fleet that waits for no Macs',
      named(snapshotOf([]), 'old', false),
      'WaitingForManager',
      'InProgress',
      /has not looked yet/,
    ],
    [
      'another one, which stopped: the new one may do better',
      named(snapshotOf([machineFacts('a')], stalled), 'old'),
      'WaitingForManager',
      'InProgress',
      /has not looked yet/,
    ],
    [
      'the one that is named, which stopped',
      named(snapshotOf([machineFacts('a')], stalled), 'new'),
      'Stalled',
      'Failed',
      /No space left/,
    ],
    [
      'the one that is named, before it has looked at each machine',
      named(snapshotOf([planned('a'), planned('b', { plannedBy: 'old' }), updated('c')]), 'new'),
      'WaitingForManager',
      'InProgress',
      /^3 of 3 were up to date\. Not looked at yet by the manager of release new: b, c\.$/,
    ],
    [
      'the named manager, and a machine that no manager works on',
      named(snapshotOf([planned('a', { plannedBy: 'old', paused: true })]), 'new'),
      'UpToDate',
      'Current',
      /desired state/,
    ],
    [
      'the one that is named, and a machine that is down',
      named(snapshotOf([planned('a'), planned('b', { plannedBy: 'old', ...down })]), 'new'),
      'MachinesNotReady',
      'InProgress',
      /Not Ready: b/,
    ],
    [
      'the same without waitForMacs',
      named(snapshotOf([planned('a'), planned('b', { plannedBy: 'old', ...down })]), 'new', false),
      'ReadyButShort',
      'Current',
      /Not Ready: b/,
    ],
    [
      'short, and a machine that was not looked at',
      named(snapshotOf([planned('a', { plannedBy: 'old' }), planned('b', down)]), 'new', false),
      'WaitingForManager',
      'InProgress',
      /Not looked at yet by the manager of release new: a\./,
    ],
    ['a roll by the one that is named', named(snapshotOf([machineFacts('a')]), 'new'), 'Rolling', 'InProgress', /a/],
  ]);

  it('gets turns from whichever manager leads: only the conditions differ', () => {
    const snapshot = snapshotOf([machineFacts('a'), machineFacts('b')]);
    assert.deepEqual(decide(named(snapshot, 'old')), decide(snapshot));
    const { turns, conditions } = statusFor(named(snapshot, 'old'));
    assert.deepEqual(
      turns?.map(({ machine }) => machine),
      ['a'],
    );
    assert.equal(getCondition(conditions, 'Rolling')?.reason, 'Canary');
  });

  it('reports a stop by the old manager without Stalled, so that helm waits for the new manager', () => {
    const { conditions } = statusFor(named(snapshotOf([machineFacts('a')], stalled), 'old'));
    const condition = getCondition(conditions, 'Stalled');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'WaitingForManager']);
    assert.match(condition?.message ?? '', /a refused: No space left\./);
  });
});

describe('a fleet that names no manager version', () => {
  const well = snapshotOf([updated('a', { plannedBy: 'old' })]);
  check([
    ['one with a name', { ...well, releaseID: 'new' }, 'UpToDate', 'Current', /desired state/],
    ['one without', { ...well, releaseID: undefined }, 'UpToDate', 'Current', /desired state/],
  ]);
});
