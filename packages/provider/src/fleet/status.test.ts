import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { conditionsByKind, type MacFleet, macFleet, type MacFleetStatus } from '@tartan/api';
import { getCondition, isConditionTrue, type Live } from '@tartan/kube';
import fc from 'fast-check';
import { decide, type Snapshot } from './decide.ts';
import { rollEvents, statusOf } from './status.ts';
import { ago, machineFacts, minute, now, snapshotOf, turnFor, updated } from './testing/fixtures.ts';
import { modelFleet, type Revision } from './testing/model-fleet.ts';

const fleetWith = (status?: MacFleetStatus): Live<MacFleet> => {
  const metadata = { name: 'runners', namespace: 'macs', generation: 3 };
  const identity = { uid: 'u', resourceVersion: '1', creationTimestamp: ago(60) };
  return { ...macFleet.make({ metadata }), metadata: { ...metadata, ...identity }, ...(status && { status }) };
};

const statusFor = (snapshot: Snapshot, before?: MacFleetStatus): MacFleetStatus => {
  const decision = decide(snapshot);
  assert.equal(decision.kind, 'roll');
  return statusOf(fleetWith(before), snapshot, decision);
};

const down = { ready: false, notReadySince: now - 60 * minute };
const stop = { reason: 'PushRejected' as const, machine: 'a', message: 'No space left', at: ago(10) };
const stalled = { stalledRevision: 'r2', stop };

const table: [string, Snapshot, string, RegExp][] = [
  ['all is well', snapshotOf([updated('a')]), 'UpToDate', /^The desired state is reached\.$/],
  ['too few', { ...snapshotOf([updated('a')]), desired: 3 }, 'MachinesMissing', /^3 machines are wanted and 1 there\./],
  ['one down', snapshotOf([updated('a'), updated('b', down)]), 'MachinesNotReady', /^Not Ready: b\.$/],
  [
    'a roll',
    snapshotOf([machineFacts('a'), machineFacts('b')]),
    'Rolling',
    /^0 of 2 are up to date\. Being rolled: a\. To be rolled: b\.$/,
  ],
  [
    'a pause',
    snapshotOf([machineFacts('a')], {}, { paused: true }),
    'Paused',
    /To be rolled: a\. Unset spec\.paused and spec\.pausedByRelease .*annotation cluster\.x-k8s\.io\/paused, to go on\.$/,
  ],
  [
    'a stop',
    snapshotOf([machineFacts('a'), machineFacts('b')], stalled),
    'Stalled',
    /^0 of 2 are up to date\. a refused: No space left\.$/,
  ],
  ['down, and to be rolled', snapshotOf([machineFacts('a', down)]), 'MachinesNotReady', /Not Ready: a\.$/],
  [
    'refused, and to be rolled',
    snapshotOf([machineFacts('a', { failed: 'a-2', lastFailure: now })]),
    'Rolling',
    /To be rolled: a \(has refused\)\.$/,
  ],
];

describe('the status of a MacFleet', () => {
  for (const [name, snapshot, reason, message] of table)
    it(`${name}: ${reason}`, () => {
      const status = statusFor(snapshot);
      const ready = getCondition(status.conditions, 'Ready');
      assert.equal(ready?.reason, reason);
      assert.match(ready.message, message);
      assert.equal(status.observedGeneration, 3);
      assert.equal(ready.observedGeneration, 3);
    });

  it('the Stalled message says what to do', () => {
    const snapshot = snapshotOf([machineFacts('a')], stalled);
    const messageOf = (status: MacFleetStatus) => getCondition(status.conditions, 'Stalled')?.message;
    assert.equal(
      messageOf(statusFor(snapshot)),
      'a refused: No space left. Revision r2. It is tried again at 2026-01-01T12:20:00Z, and when there is another revision.',
    );
    const forever = { ...snapshot, limits: { ...snapshot.limits, retryAfterMs: undefined } };
    assert.equal(
      messageOf(statusFor(forever)),
      'a refused: No space left. Revision r2. Another revision starts it again.',
    );
  });

  it('lists each turn and its purpose', () => {
    const machines = [updated('a', down), machineFacts('b', { waitingForIdle: true })];
    const turns = [turnFor('a', { rollBack: true }), turnFor('b', { canary: true, waitsForIdle: true })];
    assert.equal(
      statusFor(snapshotOf(machines, { turns })).turnOf,
      'a (rolls back), b (canary, waits until it is idle)',
    );
  });

  it('machines being deleted do not count, and a machine without a Mac is not updated', () => {
    const machines = [
      updated('a', { deleting: true }),
      updated('b', { provisioned: false, ready: false }),
      updated('c'),
    ];
    const { existing, ready, updated: upToDate } = statusFor(snapshotOf(machines));
    assert.deepEqual([existing, ready, upToDate], [2, 1, 1]);
  });

  it('the status of a large fleet stays below the size limit', () => {
    const machines = Array.from({ length: 500 }, (_, index) => machineFacts(`a-machine-with-a-long-name-${index}`));
    const snapshot = snapshotOf(machines, { provenRevision: 'r2' }, { maxUnavailable: 500 });
    const status = statusFor(snapshot);
    assert.equal(status.turns?.length, 500);
    macFleet.status?.parse(status);
    assert.ok((getCondition(status.conditions, 'Ready')?.message.length ?? 0) < 1000);
  });

  it('is accepted by the schema, is idempotent, and is Stalled only after a stop', () => {
    const revision = fc.constantFrom<Revision>('good', 'refused', 'kills the agent', 'cuts off the Mac');
    const story = fc.array(fc.oneof(revision, fc.nat(3)), { maxLength: 30 });
    fc.assert(
      fc.property(story, (steps) => {
        const fleet = modelFleet();
        for (const step of steps) {
          if (typeof step === 'number') fleet.setDown(step, true);
          else fleet.release(step);
          for (let round = 0; round < 4; round += 1) {
            fleet.look(0);
            fleet.write(0);
            fleet.machines.forEach((_, index) => fleet.work(index));
            fleet.pass(5);
          }
        }
        let before: MacFleetStatus | undefined;
        for (const { snapshot } of fleet.writes) {
          const status = statusFor(snapshot, before);
          macFleet.status?.parse(status);
          assert.equal(isConditionTrue(status.conditions, 'Stalled'), status.stop !== undefined);
          assert.ok(!(isConditionTrue(status.conditions, 'Ready') && status.turns));
          before = status;
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('docs/roll.md', () => {
  it('lists exactly the states of a roll', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/roll.md'), 'utf8');
    const diagram = /```text\n(.*?)```/s.exec(page)?.[1] ?? '';
    const words = new Set(diagram.match(/\b[A-Z][A-Za-z]+\b/g)?.filter((word) => word !== 'Ready'));
    assert.deepEqual(words, new Set(Object.keys(conditionsByKind.MacFleet.Rolling.reasons)));
  });
});

describe('events of a roll', () => {
  const base: MacFleetStatus = { observedGeneration: 1, revision: 'r2' };
  const on = { ...base, rollStartedAt: ago(5) };
  const stopped = { ...on, stop };
  for (const [name, before, after, reasons] of [
    ['nothing', base, base, []],
    ['a first turn', base, on, ['RollStarted']],
    ['a first turn of a fleet that is new', undefined, on, ['RollStarted']],
    ['another turn', on, on, []],
    ['the first turn of another revision', on, { ...on, revision: 'r3' }, ['RollStarted']],
    ['a revision that has no turn yet', on, { ...base, revision: 'r3' }, []],
    ['the end', on, base, ['RollFinished']],
    ['a stop', on, stopped, ['RollStopped']],
    ['a stop that goes on', stopped, stopped, []],
    ['a stop that is lifted', stopped, on, []],
    ['another stop', stopped, { ...stopped, stop: { ...stop, at: ago(0) } }, ['RollStopped']],
  ] as const)
    it(`${name}: ${reasons.join(', ') || 'no event'}`, () => {
      const events = rollEvents(before, after);
      assert.deepEqual(
        events.map(({ reason }) => reason),
        reasons,
      );
    });

  it('a stop names the machine and the reason', () => {
    const [event] = rollEvents(on, stopped);
    assert.equal(event?.message, 'The rollout has stopped. PushRejected on a: No space left.');
    assert.equal(event.type, 'Warning');
  });
});
