import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { ScalewayError, type ScalewayErrorKind } from '@tartan/scaleway';
import { createRefusals } from './refusals.ts';

const error = (kind: ScalewayErrorKind, retryAfter?: number): ScalewayError =>
  new ScalewayError('no', { kind, ...(retryAfter === undefined ? {} : { retryAfter }) });

describe('what Scaleway refused', () => {
  it('is asked for again more and more seldom', () => {
    const refusals = createRefusals(manualClock(), 10_000);
    const pauses = Array.from({ length: 8 }, () => refusals.refused('a', 1, error('denied')) / 1000);
    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    refusals.forget('a');
    assert.equal(refusals.refused('a', 1, error('denied')), 5000);
  });

  it('is not asked for before it would be looked at anyway when it passes by itself, and more and more seldom', () => {
    const refusals = createRefusals(manualClock(), 10_000);
    const pauses = Array.from({ length: 7 }, () => refusals.refused('a', 1, error('transient state')) / 1000);
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
    assert.equal(refusals.refused('b', 1, error('rate limited', 25_000)), 25_000);
  });

  it('holds for this Mac and this spec, for that time', () => {
    const clock = manualClock();
    const refusals = createRefusals(clock, 10_000);
    refusals.refused('a', 1, error('unavailable'));
    clock.advance(1000);
    assert.deepEqual([refusals.leftMs('a', 1), refusals.leftMs('a', 2), refusals.leftMs('b', 1)], [4000, 0, 0]);
    clock.advance(4000);
    assert.equal(refusals.leftMs('a', 1), 0);
  });
});
