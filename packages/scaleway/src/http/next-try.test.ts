import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ScalewayError, type ScalewayErrorKind } from '../scaleway-error.ts';
import { waitBeforeNextTry } from './next-try.ts';

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
const usual = { repeatable: true, tried: 1, tries: 4, longestWait: 20_000, jitter: 0 };
const failed = (kind: ScalewayErrorKind, retryAfter = 0): ScalewayError => new ScalewayError('x', { kind, retryAfter });

test('only what passes by itself is tried again', () => {
  const again = kinds.filter((kind) => waitBeforeNextTry({ ...usual, error: failed(kind) }) !== undefined);
  assert.deepEqual(again, ['rate limited', 'unavailable', 'no answer']);
});

test('the waits grow, with a random upper half', () => {
  const error = failed('unavailable');
  const waits = (jitter: number) =>
    [1, 2, 3, 4, 5, 6, 7].map((tried) => waitBeforeNextTry({ ...usual, tries: 9, error, tried, jitter }));
  assert.deepEqual(waits(0), [250, 500, 1000, 2000, 4000, 4000, 4000]);
  assert.deepEqual(waits(1), [500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test('the reset time of a 429 is waited for, up to a bound', () => {
  const wait = (retryAfter: number, jitter = 0) =>
    waitBeforeNextTry({ ...usual, error: failed('rate limited', retryAfter), jitter });
  assert.equal(wait(5000), 5000);
  assert.equal(wait(5000, 0.5), 5250);
  assert.equal(wait(20_000), 20_000);
  assert.equal(wait(20_001), undefined);
  assert.equal(wait(0), 250);
});

test('what is not repeatable is never tried again, and nothing is tried more often than said', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.nat(10),
      fc.nat(10),
      fc.nat(60_000),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (kind, tried, tries, retryAfter, jitter) => {
        const error = failed(kind, retryAfter);
        const facts = { error, tried: tried + 1, tries, longestWait: 20_000, jitter };
        assert.equal(waitBeforeNextTry({ ...facts, repeatable: false }), undefined);
        const wait = waitBeforeNextTry({ ...facts, repeatable: true });
        if (tried + 1 >= tries) assert.equal(wait, undefined);
        if (wait !== undefined) assert(wait > 0 && wait <= 20_500);
      },
    ),
  );
});
