import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotLeadingError } from './gate.ts';
import { createElectionHarness, type ElectionHarness, isGateOpen } from './testing/election-harness.ts';

const specOf = ({ server }: ElectionHarness): Record<string, unknown> =>
  server.current?.spec as Record<string, unknown>;
const began = ({ events }: ElectionHarness): string[] =>
  events.filter(({ what }) => what === 'started').map(({ who }) => who);

test('a wall clock that jumps costs nobody its leadership; forward, the gate waits for the next renewal', async () => {
  const world = createElectionHarness();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.advance(3_000);
  a.clock.jump(86_400_000);
  b.clock.jump(-86_400_000);
  assert.deepEqual(world.candidatesWithOpenGate(), []);
  await world.advance(2_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  a.clock.jump(-2 * 86_400_000);
  b.clock.jump(3 * 86_400_000);
  await world.advance(60_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
  assert.deepEqual(began(world), ['a']);
  a.stop();
  b.stop();
  await world.advance(0);
});

test('a wall clock that stands still does not make renewals look like silence', async () => {
  const world = createElectionHarness();
  const a = world.candidate('a');
  const b = world.candidate('b');
  for (let step = 0; step < 600; step++) {
    await world.advance(100);
    a.clock.jump(-100);
  }
  assert.deepEqual(began(world), ['a']);
  a.stop();
  b.stop();
  await world.advance(0);
});

test('a process frozen past its lease: the gate of its old term stays closed after it resumes', async () => {
  const world = createElectionHarness();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.advance(3_000);
  a.clock.freeze();
  await world.advance(20_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  const old = a.termGate;
  assert.throws(() => old?.pass(), NotLeadingError);
  const thawed = a.clock.thaw();
  assert.throws(() => old?.pass(), NotLeadingError);
  await thawed;
  await world.advance(1_000);
  assert.ok(a.cancelled);
  b.stop();
  await world.advance(3_000);
  assert.deepEqual(began(world), ['a', 'b', 'a']);
  assert.throws(() => old?.pass(), NotLeadingError, 'not even in the next term of the same process');
  assert.ok(isGateOpen(a.election.gate));
  a.stop();
  await world.advance(0);
});

test('after a sleep longer than the lease, the gate stays closed until the next renewal', async () => {
  const world = createElectionHarness();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.advance(3_000);
  a.clock.freeze();
  await world.advance(20_000);
  a.clock.slept(20_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  await a.clock.thaw();
  await world.advance(2_000);
  assert.deepEqual(world.candidatesWithOpenGate(), ['b']);
  assert.ok(a.cancelled);
  a.stop();
  b.stop();
  await world.advance(0);
});

for (const spec of [
  undefined,
  null,
  7,
  [],
  'x',
  { holderIdentity: { a: 1 }, leaseDurationSeconds: 'x', leaseTransitions: -1 },
]) {
  test(`a Lease that says ${JSON.stringify(spec)} is taken over in the end`, async () => {
    const world = createElectionHarness();
    world.server.create({ metadata: { name: 'it' }, spec });
    const a = world.candidate('a');
    await world.advance(15_100);
    assert.deepEqual(world.candidatesWithOpenGate(), ['a']);
    assert.equal(specOf(world)['leaseTransitions'], 1);
    a.stop();
    await world.advance(0);
  });
}

test('a deleted Lease is created again by its leader, and the other candidates wait', async () => {
  const world = createElectionHarness();
  const a = world.candidate('a');
  await world.advance(0);
  const b = world.candidate('b', { random: () => 0.99 });
  await world.advance(1_000);
  world.server.current = undefined;
  await world.advance(60_000);
  assert.deepEqual(began(world), ['a']);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  a.stop();
  b.stop();
  await world.advance(0);
});

for (const holderIdentity of ['somebody', '']) {
  test(`a leader whose name was replaced by "${holderIdentity}" ends its term`, async () => {
    const world = createElectionHarness();
    const a = world.candidate('a');
    await world.advance(1_000);
    const old = a.termGate;
    world.server.update({ ...world.server.get(), spec: { ...specOf(world), holderIdentity } });
    await world.advance(1_000);
    assert.deepEqual(world.events.slice(0, 3), [
      { who: 'a', what: 'started' },
      { who: 'a', what: 'cancelled' },
      { who: 'a', what: 'ended' },
    ]);
    assert.ok(!isGateOpen(old));
    a.stop();
    await world.advance(0);
    assert.equal(await a.done, 'stopped');
  });
}
