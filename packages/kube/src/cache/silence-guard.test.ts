import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardSilence } from './silence-guard.ts';
import { countedClock } from './testing/counted-clock.ts';

test('silence is noticed once, and only after the whole limit since something was last heard', () => {
  const clock = countedClock();
  let silences = 0;
  const guard = guardSilence(clock, 1000, () => silences++);
  clock.advance(900);
  guard.heard();
  clock.advance(999);
  assert.equal(silences, 0);
  clock.advance(1);
  assert.equal(silences, 1);
  clock.advance(10_000);
  assert.equal(silences, 1);
  assert.equal(clock.timers, 0);
});

test('hearing arms no further timer, and a stopped guard leaves none', () => {
  const clock = countedClock();
  const guard = guardSilence(clock, 1000, () => assert.fail('not silent'));
  for (let event = 0; event < 100; event++) guard.heard();
  assert.equal(clock.timers, 1);
  clock.advance(1);
  guard.heard();
  clock.advance(999);
  assert.equal(clock.timers, 1);
  guard.stop();
  assert.equal(clock.timers, 0);
});
