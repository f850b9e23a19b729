import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/index.ts';
import { alwaysOpenGate, createTermGate, instant, NotLeadingError } from './gate.ts';
import { candidateClock } from './testing/candidate-clock.ts';

const open = () => {
  const sharedClock = manualClock();
  const clock = candidateClock(sharedClock);
  const gate = createTermGate({ clock, renewDeadlineMs: 10_000, lease: 'ns/it', sent: instant(clock) });
  return { sharedClock, clock, gate };
};

test('pass returns the remaining time, counted from when the renewal was sent', () => {
  const { sharedClock, clock, gate } = open();
  assert.deepEqual(gate.pass(), { remainingMs: 10_000 });
  sharedClock.advance(4_000);
  assert.deepEqual(gate.pass(), { remainingMs: 6_000 });
  const sent = instant(clock);
  sharedClock.advance(1_000);
  gate.renewed(sent);
  assert.deepEqual(gate.pass(), { remainingMs: 9_000 });
});

test('the gate closes by itself at the renew deadline', () => {
  const { sharedClock, gate } = open();
  sharedClock.advance(9_999);
  assert.deepEqual(gate.pass(), { remainingMs: 1 });
  sharedClock.advance(1);
  assert.throws(() => gate.pass(), NotLeadingError);
});

test('a closed gate stays closed, and has a reason', () => {
  const { clock, gate } = open();
  gate.close('the lease names b');
  gate.renewed(instant(clock));
  gate.close('it was closed again');
  assert.throws(() => gate.pass(), {
    name: 'NotLeadingError',
    message: /does not lead \(lease ns\/it\): the lease names b/,
  });
});

test('the gate without leader election always passes, with the remaining time of a renewal', () => {
  assert.deepEqual(alwaysOpenGate.pass(), { remainingMs: 10_000 });
});

test('a wall clock set back changes nothing', () => {
  const { sharedClock, clock, gate } = open();
  clock.jump(-3_600_000);
  sharedClock.advance(4_000);
  assert.deepEqual(gate.pass(), { remainingMs: 6_000 });
  sharedClock.advance(6_000);
  assert.throws(() => gate.pass(), NotLeadingError);
});

test('after a sleep, the gate stays closed until a renewal, although the monotonic clock stood still', () => {
  const { sharedClock, clock, gate } = open();
  sharedClock.advance(60_000);
  clock.slept(60_000);
  assert.equal(clock.monotonic(), 0);
  assert.throws(() => gate.pass(), /sent 60000 ms ago/);
  gate.renewed(instant(clock));
  assert.deepEqual(gate.pass(), { remainingMs: 10_000 });
});
