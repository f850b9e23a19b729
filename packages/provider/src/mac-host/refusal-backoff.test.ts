import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { ScalewayError, type ScalewayErrorKind } from '@tartan/scaleway';
import { createRefusalBackoff, isOutcomeUnknown } from './refusal-backoff.ts';

const error = (kind: ScalewayErrorKind, retryAfter?: number): ScalewayError =>
  new ScalewayError('no', { kind, ...(retryAfter === undefined ? {} : { retryAfter }) });

describe('the back-off after a refusal of Scaleway', () => {
  it('doubles', () => {
    const refusals = createRefusalBackoff(manualClock(), 10_000);
    const pauses = Array.from({ length: 8 }, () => refusals.record('a', 1, error('denied')) / 1000);
    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    refusals.reset('a');
    assert.equal(refusals.record('a', 1, error('denied')), 5000);
  });

  it('is at least the poll interval for temporary failures, and doubles', () => {
    const refusals = createRefusalBackoff(manualClock(), 10_000);
    const pauses = Array.from({ length: 7 }, () => refusals.record('a', 1, error('transient state')) / 1000);
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
    assert.equal(refusals.record('b', 1, error('rate limited', 25_000)), 25_000);
    assert.equal(refusals.record('c', 1, error('not found')), 10_000);
  });

  it('is per Mac and generation', () => {
    const clock = manualClock();
    const refusals = createRefusalBackoff(clock, 10_000);
    refusals.record('a', 1, error('unavailable'));
    clock.advance(1000);
    assert.deepEqual(
      [refusals.remainingMs('a', 1), refusals.remainingMs('a', 2), refusals.remainingMs('b', 1)],
      [4000, 0, 0],
    );
    clock.advance(4000);
    assert.equal(refusals.remainingMs('a', 1), 0);
    assert.equal(refusals.remainingMs('b', undefined), 0);
    assert.equal(refusals.record('a', 2, error('denied')), 5000, 'another generation starts anew');
    assert.equal(refusals.record('b', undefined, error('denied')), 5000);
  });
});

it('treats an unreadable response as an unknown outcome', () => {
  const kinds = ['no answer', 'unavailable', 'garbled', 'denied', 'not found', 'transient state'] as const;
  assert.deepEqual(
    kinds.filter((kind) => isOutcomeUnknown(error(kind))),
    ['no answer', 'unavailable', 'garbled'],
  );
});
