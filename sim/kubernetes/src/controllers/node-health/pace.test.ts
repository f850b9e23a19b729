import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { pace } from './pace.ts';

test('the first goes at once, the next when its time has come', () => {
  const clock = manualClock();
  const evictions = pace(clock);
  evictions.setRate(0.1);
  assert.equal(evictions.take(), true);
  clock.advance(9_999);
  assert.equal(evictions.take(), false);
  clock.advance(1);
  assert.equal(evictions.take(), true);
});

test('at a rate of nothing nobody goes, and afterwards not at once', () => {
  const clock = manualClock();
  const evictions = pace(clock);
  evictions.setRate(0.1);
  evictions.setRate(0);
  clock.advance(100_000);
  assert.equal(evictions.take(), false);
  evictions.setRate(0.1);
  assert.equal(evictions.take(), false);
  clock.advance(10_000);
  assert.equal(evictions.take(), true);
});

test('setting the same rate again does not start the wait anew', () => {
  const clock = manualClock();
  const evictions = pace(clock);
  evictions.setRate(0.1);
  evictions.take();
  clock.advance(5_000);
  evictions.setRate(0.1);
  clock.advance(5_000);
  assert.equal(evictions.take(), true);
});
