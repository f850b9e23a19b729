import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRateLimit } from './rate-limit.ts';

test('a second’s worth goes at once, then one at a time', () => {
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

test('less than one a second is a rate too', () => {
  const limit = createRateLimit(manualClock(), 0.1);
  assert.deepEqual(
    [1, 2, 3].map(() => limit.reserve()),
    [0, 10_000, 20_000],
  );
});

test('a hold passes, is not cut short by a shorter one, and is no longer than a minute', () => {
  const clock = manualClock();
  const limit = createRateLimit(clock, 4);
  assert.equal(limit.heldFor(), 0);
  limit.hold(5000);
  limit.hold(1000);
  assert.equal(limit.heldFor(), 5000);
  clock.advance(5000);
  assert.equal(limit.heldFor(), 0);
  limit.hold(3_600_000);
  assert.equal(limit.heldFor(), 60_000);
});
