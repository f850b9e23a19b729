import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ScalewayError, type ScalewayErrorKind } from '../errors/scaleway-error.ts';
import { retryDelay } from './transport.ts';

const kinds: ScalewayErrorKind[] = [
  'not found',
  'denied',
  'unauthorized',
  'transient state',
  'rate limited',
  'invalid',
  'unavailable',
  'no answer',
  'garbled',
];
const usual = { repeatable: true, attempt: 1, maxAttempts: 4, jitter: 0 };
const failed = (kind: ScalewayErrorKind, retryAfter = 0): ScalewayError => new ScalewayError('x', { kind, retryAfter });

test('only transient errors are retried', () => {
  const again = kinds.filter((kind) => retryDelay({ ...usual, error: failed(kind) }) !== undefined);
  assert.deepEqual(again, ['rate limited', 'unavailable', 'no answer']);
});

test('delays grow exponentially, with jitter in the upper half', () => {
  const error = failed('unavailable');
  const waits = (jitter: number) =>
    [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryDelay({ ...usual, maxAttempts: 9, error, attempt, jitter }));
  assert.deepEqual(waits(0), [250, 500, 1000, 2000, 4000, 4000, 4000]);
  assert.deepEqual(waits(1), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test('the reset time of a 429 is waited for, up to a bound', () => {
  const wait = (retryAfter: number, jitter = 0) =>
    retryDelay({ ...usual, error: failed('rate limited', retryAfter), jitter });
  assert.equal(wait(5000), 5000);
  assert.equal(wait(5000, 0.5), 5250);
  assert.equal(wait(20_000), 20_000);
  assert.equal(wait(20_001), undefined);
  assert.equal(wait(0), 250);
});

test('an operation that is not repeatable is never retried, others at most maxAttempts times', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.nat(10),
      fc.nat(10),
      fc.nat(60_000),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (kind, tried, maxAttempts, retryAfter, jitter) => {
        const error = failed(kind, retryAfter);
        const facts = { error, attempt: tried + 1, maxAttempts, jitter };
        assert.equal(retryDelay({ ...facts, repeatable: false }), undefined);
        const wait = retryDelay({ ...facts, repeatable: true });
        if (tried + 1 >= maxAttempts) assert.equal(wait, undefined);
        if (wait !== undefined) assert(wait > 0 && wait <= 20_500);
      },
    ),
  );
});
