import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotLeadingError } from './gate.ts';
import { createElectionHarness, type ElectionHarness, isGateOpen } from './testing/election-harness.ts';

const specOf = ({ server }: ElectionHarness): Record<string, unknown> =>
  server.current?.spec as Record<string, unknown>;
const began = ({ events }: ElectionHarness): string[] =>
  events.filter(({ what }) => what === 'started').map(({ who }) => who);

test('no candidate loses leadership by a jump of its wall clock; after a jump forward, the gate waits for the next renewal', async () => {
  const harness = createElectionHarness();
  const a = harness.candidate('a');
  const b = harness.candidate('b');
  await harness.advance(3_000);
  a.clock.jump(86_400_000);
  b.clock.jump(-86_400_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), []);
  await harness.advance(2_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  a.clock.jump(-2 * 86_400_000);
  b.clock.jump(3 * 86_400_000);
  await harness.advance(60_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
  assert.deepEqual(began(harness), ['a']);
  a.stop();
  b.stop();
  await harness.advance(0);
});

test('renewals with the same timestamp, from a wall clock that stands still, count as renewals', async () => {
  const harness = createElectionHarness();
  const a = harness.candidate('a');
  const b = harness.candidate('b');
  for (let step = 0; step < 600; step++) {
    await harness.advance(100);
    a.clock.jump(-100);
  }
  assert.deepEqual(began(harness), ['a']);
  a.stop();
  b.stop();
  await harness.advance(0);
});

test('the gate of a process that was frozen past its lease stays closed after it resumes', async () => {
  const harness = createElectionHarness();
  const a = harness.candidate('a');
  const b = harness.candidate('b');
  await harness.advance(3_000);
  a.clock.freeze();
  await harness.advance(20_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  const old = a.termGate;
  assert.throws(() => old?.pass(), NotLeadingError);
  const thawed = a.clock.thaw();
  assert.throws(() => old?.pass(), NotLeadingError);
  await thawed;
  await harness.advance(1_000);
  assert.ok(a.cancelled);
  b.stop();
  await harness.advance(3_000);
  assert.deepEqual(began(harness), ['a', 'b', 'a']);
  assert.throws(() => old?.pass(), NotLeadingError, 'not even in the next term of the same process');
  assert.ok(isGateOpen(a.election.gate));
  a.stop();
  await harness.advance(0);
});

test('after a sleep longer than the lease, the gate stays closed until the next renewal', async () => {
  const harness = createElectionHarness();
  const a = harness.candidate('a');
  const b = harness.candidate('b');
  await harness.advance(3_000);
  a.clock.freeze();
  await harness.advance(20_000);
  a.clock.slept(20_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  await a.clock.thaw();
  await harness.advance(2_000);
  assert.deepEqual(harness.candidatesWithOpenGate(), ['b']);
  assert.ok(a.cancelled);
  a.stop();
  b.stop();
  await harness.advance(0);
});

for (const spec of [
  undefined,
  null,
  7,
  [],
  'x',
  { holderIdentity: { a: 1 }, leaseDurationSeconds: 'x', leaseTransitions: -1 },
]) {
  test(`a Lease with the spec ${JSON.stringify(spec)} is taken over in the end`, async () => {
    const harness = createElectionHarness();
    harness.server.create({ metadata: { name: 'it' }, spec });
    const a = harness.candidate('a');
    await harness.advance(15_100);
    assert.deepEqual(harness.candidatesWithOpenGate(), ['a']);
    assert.equal(specOf(harness)['leaseTransitions'], 1);
    a.stop();
    await harness.advance(0);
  });
}

test('a deleted Lease is created again by its leader, and the other candidates wait', async () => {
  const harness = createElectionHarness();
  const a = harness.candidate('a');
  await harness.advance(0);
  const b = harness.candidate('b', { random: () => 0.99 });
  await harness.advance(1_000);
  harness.server.current = undefined;
  await harness.advance(60_000);
  assert.deepEqual(began(harness), ['a']);
  assert.equal(specOf(harness)['holderIdentity'], 'a');
  a.stop();
  b.stop();
  await harness.advance(0);
});

for (const holderIdentity of ['somebody', '']) {
  test(`a leader whose name was replaced by "${holderIdentity}" ends its term`, async () => {
    const harness = createElectionHarness();
    const a = harness.candidate('a');
    await harness.advance(1_000);
    const old = a.termGate;
    harness.server.update({ ...harness.server.get(), spec: { ...specOf(harness), holderIdentity } });
    await harness.advance(1_000);
    assert.deepEqual(harness.events.slice(0, 3), [
      { who: 'a', what: 'started' },
      { who: 'a', what: 'cancelled' },
      { who: 'a', what: 'ended' },
    ]);
    assert.ok(!isGateOpen(old));
    a.stop();
    await harness.advance(0);
    assert.equal(await a.done, 'stopped');
  });
}
