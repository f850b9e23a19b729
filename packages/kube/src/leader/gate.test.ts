import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/index.ts';
import { alwaysOpenGate, createTermGate, instant, NotLeadingError } from './gate.ts';
import { candidateClock } from './testing/candidate-clock.ts';

const open = () => {
  const world = manualClock();
  const clock = candidateClock(world);
  const gate = createTermGate({ clock, renewDeadlineMs: 10_000, lease: 'ns/it', sent: instant(clock) });
  return { world, clock, gate };
};

test('pass returns the remaining time, counted from when the renewal was sent', () => {
  const { world, clock, gate } = open();
  assert.deepEqual(gate.pass(), { remainingMs: 10_000 });
  world.advance(4_000);
  assert.deepEqual(gate.pass(), { remainingMs: 6_000 });
  const sent = instant(clock);
  world.advance(1_000);
  gate.renewed(sent);
  assert.deepEqual(gate.pass(), { remainingMs: 9_000 });
});

test('it closes by itself when the renew deadline has passed', () => {
  const { world, gate } = open();
  world.advance(9_999);
  assert.deepEqual(gate.pass(), { remainingMs: 1 });
  world.advance(1);
  assert.throws(() => gate.pass(), NotLeadingError);
});

test('once closed it stays closed, and says why', () => {
  const { clock, gate } = open();
  gate.close('the lease names b');
  gate.renewed(instant(clock));
  gate.close('it was closed again');
  assert.throws(() => gate.pass(), {
    name: 'NotLeadingError',
    message: /does not lead \(lease ns\/it\): the lease names b/,
  });
});

test('a manager without leader election always passes, for as long as a renewal is good', () => {
  assert.deepEqual(alwaysOpenGate.pass(), { remainingMs: 10_000 });
});

test('a wall clock that is set back changes nothing', () => {
  const { world, clock, gate } = open();
  clock.jump(-3_600_000);
  world.advance(4_000);
  assert.deepEqual(gate.pass(), { remainingMs: 6_000 });
  world.advance(6_000);
  assert.throws(() => gate.pass(), NotLeadingError);
});

test('after a sleep, the gate stays closed until a renewal, although the monotonic clock stood still', () => {
  const { world, clock, gate } = open();
  world.advance(60_000);
  clock.slept(60_000);
  assert.equal(clock.monotonic(), 0);
  assert.throws(() => gate.pass(), /sent 60000 ms ago/);
  gate.renewed(instant(clock));
  assert.deepEqual(gate.pass(), { remainingMs: 10_000 });
});
