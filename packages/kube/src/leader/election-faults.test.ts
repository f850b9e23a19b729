import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotLeadingError } from './gate.ts';
import { createWorld, lets, type World } from './testing/world.ts';

const specOf = ({ server }: World): Record<string, unknown> => server.current?.spec as Record<string, unknown>;
const began = ({ happened }: World): string[] => happened.filter(({ what }) => what === 'began').map(({ who }) => who);

test('a wall clock that jumps costs nobody its leadership; forward, the gate waits for the next renewal', async () => {
  const world = createWorld();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.pass(3_000);
  a.clock.jump(86_400_000);
  b.clock.jump(-86_400_000);
  assert.deepEqual(world.passing(), []);
  await world.pass(2_000);
  assert.deepEqual(world.passing(), ['a']);
  a.clock.jump(-2 * 86_400_000);
  b.clock.jump(3 * 86_400_000);
  await world.pass(60_000);
  assert.deepEqual(world.passing(), ['a']);
  assert.deepEqual(began(world), ['a']);
  a.stop();
  b.stop();
  await world.pass(0);
});

test('a wall clock that stands still does not make renewals look like silence', async () => {
  const world = createWorld();
  const a = world.candidate('a');
  const b = world.candidate('b');
  for (let step = 0; step < 600; step++) {
    await world.pass(100);
    a.clock.jump(-100);
  }
  assert.deepEqual(began(world), ['a']);
  a.stop();
  b.stop();
  await world.pass(0);
});

test('a process frozen past its lease: nothing of its old term passes, from the first moment after it thawed', async () => {
  const world = createWorld();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.pass(3_000);
  a.clock.freeze();
  await world.pass(20_000);
  assert.deepEqual(world.passing(), ['b']);
  const old = a.termGate;
  assert.throws(() => old?.pass(), NotLeadingError);
  const thawed = a.clock.thaw();
  assert.throws(() => old?.pass(), NotLeadingError);
  await thawed;
  await world.pass(1_000);
  assert.ok(a.told);
  b.stop();
  await world.pass(3_000);
  assert.deepEqual(began(world), ['a', 'b', 'a']);
  assert.throws(() => old?.pass(), NotLeadingError, 'not even in the next term of the same process');
  assert.ok(lets(a.election.gate));
  a.stop();
  await world.pass(0);
});

test('a machine that slept past its lease does not pass until it has heard from the server', async () => {
  const world = createWorld();
  const a = world.candidate('a');
  const b = world.candidate('b');
  await world.pass(3_000);
  a.clock.freeze();
  await world.pass(20_000);
  a.clock.slept(20_000);
  assert.deepEqual(world.passing(), ['b']);
  await a.clock.thaw();
  await world.pass(2_000);
  assert.deepEqual(world.passing(), ['b']);
  assert.ok(a.told);
  a.stop();
  b.stop();
  await world.pass(0);
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
    const world = createWorld();
    world.server.create({ metadata: { name: 'it' }, spec });
    const a = world.candidate('a');
    await world.pass(15_100);
    assert.deepEqual(world.passing(), ['a']);
    assert.equal(specOf(world)['leaseTransitions'], 1);
    a.stop();
    await world.pass(0);
  });
}

test('a Lease that somebody deleted is made again by its leader; those who knew it wait', async () => {
  const world = createWorld();
  const a = world.candidate('a');
  await world.pass(0);
  const b = world.candidate('b', { random: () => 0.99 });
  await world.pass(1_000);
  world.server.current = undefined;
  await world.pass(60_000);
  assert.deepEqual(began(world), ['a']);
  assert.equal(specOf(world)['holderIdentity'], 'a');
  a.stop();
  b.stop();
  await world.pass(0);
});

for (const holderIdentity of ['somebody', '']) {
  test(`a leader whose name was replaced by "${holderIdentity}" ends its term`, async () => {
    const world = createWorld();
    const a = world.candidate('a');
    await world.pass(1_000);
    const old = a.termGate;
    world.server.update({ ...world.server.get(), spec: { ...specOf(world), holderIdentity } });
    await world.pass(1_000);
    assert.deepEqual(world.happened.slice(0, 3), [
      { who: 'a', what: 'began' },
      { who: 'a', what: 'told' },
      { who: 'a', what: 'ended' },
    ]);
    assert.ok(!lets(old));
    a.stop();
    await world.pass(0);
    assert.equal(await a.done, 'stopped');
  });
}
