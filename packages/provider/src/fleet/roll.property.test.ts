import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isOutdated, isReadyAndUpdated, isUnavailable } from './judge-turn.ts';
import { limits, minute } from './testing/fixtures.ts';
import { type ModelFleet, modelFleet, type Revision, type Write } from './testing/model-fleet.ts';
import type { Turn } from './turns.ts';

/** An action on a fleet. */
type Step = (fleet: ModelFleet) => void;

/** Every actor acts once. */
const round = (fleet: ModelFleet, who = 0): void => {
  fleet.look(who);
  fleet.write(who);
  fleet.machines.forEach((_, index) => fleet.work(index));
  fleet.pass(1);
};

const manager = fc.nat(1);
const machine = fc.nat(7);
const anyRevision = fc.constantFrom<Revision>('good', 'good', 'refused', 'kills the agent', 'cuts off the Mac');

const one = <T>(weight: number, of: fc.Arbitrary<T>, name: string, step: (value: T) => Step) => ({
  weight,
  arbitrary: of.map((value) => Object.assign(step(value), { toString: () => `${name} ${String(value)}` })),
});
/** Rounds advance a roll; separate reads and writes cause conflicts between managers; the rest happens to Macs meanwhile. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  one(20, manager, 'round', (who) => (fleet) => round(fleet, who)),
  one(6, manager, 'look', (who) => (fleet) => fleet.look(who)),
  one(6, manager, 'write', (who) => (fleet) => fleet.write(who)),
  one(10, machine, 'work', (index) => (fleet) => fleet.work(index)),
  one(3, fc.integer({ min: 1, max: 20 }), 'pass', (minutes) => (fleet) => fleet.pass(minutes)),
  one(2, anyRevision, 'release', (next) => (fleet) => fleet.release(next)),
  one(2, fc.tuple(machine, fc.boolean()), 'down', (down) => (fleet) => fleet.setDown(...down)),
  one(2, machine, 'up', (index) => (fleet) => fleet.setUp(index)),
  one(1, machine, 'vanish', (index) => (fleet) => fleet.vanish(index)),
  one(1, fc.constant(''), 'join', () => (fleet) => fleet.join()),
  one(1, fc.boolean(), 'paused', (paused) => (fleet) => fleet.setPaused(paused)),
);

const anyHistory = fc.array(anyStep, { maxLength: 120, size: 'max' });
const anySize = fc.record({ size: fc.integer({ min: 1, max: 6 }), maxUnavailable: fc.integer({ min: 1, max: 3 }) });

const given = ({ before, after }: Write): Turn[] =>
  after.turns.filter(
    ({ uid, hash, rollBack }) => !rollBack && !before.turns.some((turn) => turn.uid === uid && turn.hash === hash),
  );

const check = (write: Write): void => {
  const { before, after, snapshot } = write;
  const { fleet, machines, now } = snapshot;
  assert.ok(fleet);
  const factsOf = ({ uid }: Turn) => machines.find((facts) => facts.uid === uid);
  const isStranded = (turn: Turn): boolean => factsOf(turn)?.ready === false && factsOf(turn)?.desired !== turn.hash;
  const fresh = given(write);

  assert.ok(after.turns.length <= Math.max(fleet.maxUnavailable, before.turns.length), 'within the budget');
  const takenDown = fresh.filter((turn) => factsOf(turn)?.ready === true);
  const unavailable = new Set([...after.turns, ...machines.filter(isUnavailable)].map(({ uid }) => uid));
  if (takenDown.length > 0) assert.ok(unavailable.size <= fleet.maxUnavailable, 'Macs that are down count too');
  assert.equal(new Set(after.turns.map((turn) => turn.machine)).size, after.turns.length, 'one turn each');
  if (fleet.paused || after.stop) assert.deepEqual(fresh, [], 'none in a pause, none after a stop');
  for (const turn of fresh) {
    const facts = factsOf(turn);
    assert.ok(facts && isOutdated(facts) && facts.desired === turn.hash);
    const hadOne = [...before.turns, ...before.passedOver].some(({ uid }) => uid === turn.uid);
    assert.ok(facts.ready || hadOne, 'none for a Mac that was down before');
    assert.equal(turn.canary, after.provenRevision !== snapshot.revision);
    if (turn.canary)
      assert.ok(
        after.turns.every((other) => other === turn || (isStranded(other) && !other.rollBack)),
        'alone',
      );
  }
  if (before.stop && before.stalledRevision === snapshot.revision && !after.stop) {
    const cooled = now - Date.parse(before.stop.at) >= (limits.retryAfterMs ?? Infinity);
    assert.ok(cooled || machines.every(isReadyAndUpdated), 'a stop is lifted by time, or when nothing is left');
  }
  for (const turn of before.turns.filter(({ rollBack }) => rollBack)) {
    if (after.turns.some(({ uid, rollBack }) => uid === turn.uid && rollBack)) continue;
    const facts = factsOf(turn);
    const done = facts === undefined || facts.failed === turn.hash || (facts.ready && facts.actual !== turn.hash);
    assert.ok(done || now - Date.parse(turn.grantedAt) >= fleet.gateDeadlineMs, 'a roll back is finished');
  }
};

describe('a roll, under any sequence of events', () => {
  it('keeps its invariants, also with two managers that write from stale reads', () => {
    fc.assert(
      fc.property(anySize, anyHistory, (size, history) => {
        const fleet = modelFleet(size);
        for (const step of history) step(fleet);
        for (const write of fleet.writes) check(write);
      }),
      { numRuns: 1500 },
    );
  });

  it('finishes once the Macs and the revision are good', () => {
    fc.assert(
      fc.property(anySize, anyHistory, (size, history) => {
        const fleet = modelFleet(size);
        for (const step of history) step(fleet);
        fleet.release('good');
        fleet.setPaused(false);
        fleet.machines.forEach((_, index) => fleet.setUp(index));
        for (let rounds = 0; rounds < 120; rounds += 1) round(fleet);
        assert.ok(fleet.machines.every(isReadyAndUpdated), fleet.describe());
        const { turns, stop, passedOver, rollStartedAt } = fleet.rollRecord;
        assert.deepEqual([turns, stop, passedOver, rollStartedAt], [[], undefined, [], undefined]);
      }),
      { numRuns: 500 },
    );
  });

  it('finishes after a bad revision has become good', () => {
    fc.assert(
      fc.property(anySize, anyHistory, (size, history) => {
        const fleet = modelFleet(size);
        for (const step of history) step(fleet);
        fleet.setPaused(false);
        fleet.machines.forEach((_, index) => fleet.setUp(index));
        // The same revision number: only time lifts a refusal.
        fleet.mend();
        for (let rounds = 0; rounds < 200; rounds += 1) round(fleet);
        assert.ok(fleet.machines.every(isReadyAndUpdated), fleet.describe());
      }),
      { numRuns: 300 },
    );
  });

  it('updates all others beside Macs that were down before, unless these are maxUnavailable, and is not stopped by them', () => {
    fc.assert(
      fc.property(anySize, fc.subarray([0, 1, 2, 3, 4, 5]), fc.boolean(), (size, down, reachable) => {
        const fleet = modelFleet(size);
        const indices = down.filter((index) => index < size.size);
        for (const index of indices) fleet.setDown(index, reachable);
        fleet.release('good');
        for (let rounds = 0; rounds < 30; rounds += 1) round(fleet);
        const hasRoom = indices.length < size.maxUnavailable;
        fleet.machines.forEach((facts, index) =>
          assert.equal(isReadyAndUpdated(facts), hasRoom && !indices.includes(index)),
        );
        for (const { after } of fleet.writes) {
          assert.equal(after.stop, undefined);
          assert.ok(after.turns.every((turn) => !indices.some((index) => `mac-${index}` === turn.machine)));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('takes down at most one Mac per attempt with a bad revision', () => {
    const bad = fc.constantFrom<Revision>('kills the agent', 'cuts off the Mac', 'refused');
    fc.assert(
      fc.property(anySize, bad, (size, revision) => {
        const fleet = modelFleet(size);
        fleet.release(revision);
        const begun = fleet.now;
        for (let rounds = 0; fleet.rollRecord.stop === undefined; rounds += 1) {
          assert.ok(rounds < 60, fleet.describe());
          round(fleet);
        }
        assert.ok(fleet.now - begun <= 20 * minute);
        for (let rounds = 0; rounds < 29; rounds += 1) round(fleet);
        assert.equal(fleet.lost.length, revision === 'refused' ? 0 : 1);
        assert.ok(fleet.rollRecord.stop);
        const allBack = fleet.machines.every(({ ready }) => ready);
        assert.equal(allBack, revision !== 'cuts off the Mac', 'rolled back, if there is a way to');
      }),
      { numRuns: 100 },
    );
  });
});
