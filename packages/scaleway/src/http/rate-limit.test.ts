import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRateLimit } from './rate-limit.ts';

test("a burst of one second's worth is sent at once, then one request at a time", () => {
  const clock = manualClock();
  const limit = createRateLimit(clock, 4);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(() => limit.reserve()),
    [0, 0, 0, 0, 250, 500],
  );
  clock.advance(10_000);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => limit.reserve()),
    [0, 0, 0, 0, 250],
  );
});

test('the rate may be below one per second', () => {
  const limit = createRateLimit(manualClock(), 0.1);
  assert.deepEqual(
    [1, 2, 3].map(() => limit.reserve()),
    [0, 10_000, 20_000],
  );
});

test('a pause ends, is not shortened by a shorter one, and lasts at most a minute', () => {
  const clock = manualClock();
  const limit = createRateLimit(clock, 4);
  assert.equal(limit.pausedFor(), 0);
  limit.pause(5000);
  limit.pause(1000);
  assert.equal(limit.pausedFor(), 5000);
  clock.advance(5000);
  assert.equal(limit.pausedFor(), 0);
  limit.pause(3_600_000);
  assert.equal(limit.pausedFor(), 60_000);
});
