import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultElectionDurations, durationsProblem, type ElectionDurations } from './durations.ts';

test('the default durations are valid', () => {
  assert.equal(durationsProblem(defaultElectionDurations), undefined);
});

const refused: readonly [string, Partial<ElectionDurations>, RegExp][] = [
  ['a lease that ends with the renew deadline', { leaseMs: 10_000 }, /longer than the renew deadline/],
  ['a renew deadline with room for one try only', { renewDeadlineMs: 2_400 }, /1\.2 times the retry period/],
  ['a lease that a Lease cannot express', { leaseMs: 15_500 }, /whole seconds/],
  ['no time at all', { retryPeriodMs: 0 }, /1\.2 times the retry period/],
  ['what is no number', { renewDeadlineMs: Number.NaN }, /longer than the renew deadline/],
];
for (const [what, change, why] of refused) {
  test(`${what} is rejected with the reason`, () => {
    assert.match(durationsProblem({ ...defaultElectionDurations, ...change }) ?? '', why);
  });
}
