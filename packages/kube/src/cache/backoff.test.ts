import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, defaultBackoff } from './backoff.ts';

test('waits double from the first failure on and end at the longest', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backoffMs(defaultBackoff, failures, 1));
  assert.deepEqual(waits, [800, 1600, 3200, 6400, 12800, 25600, 30_000, 30_000]);
});

test('whatever the number of failures and the luck, a wait is between half a first step and the longest', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, jitter) => {
      const wait = backoffMs(defaultBackoff, failures, jitter);
      assert.ok(wait >= defaultBackoff.initialMs / 2 && wait <= defaultBackoff.maxMs, `${wait}`);
    }),
  );
});

test('jitter spreads a wait over half of its step', () => {
  assert.equal(backoffMs(defaultBackoff, 2, 0), 800);
  assert.equal(backoffMs(defaultBackoff, 2, 0.5), 1200);
});
