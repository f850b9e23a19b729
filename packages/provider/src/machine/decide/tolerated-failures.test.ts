import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { effectiveHash, type Tolerance } from './provisioned.ts';

const at = '2026-01-01T00:00:00Z';
const now = Date.parse(at) + 60_000;
const leftOut = { desired: 'wanted', actual: 'less', message: 'node_exporter did not start', at };
const tolerance: Tolerance = { desired: 'wanted', leftOut, now, retryAfterMs: 120_000 };

describe('a Mac whose optional step failed', () => {
  const table: readonly (readonly [string, string | undefined, Tolerance, string | undefined])[] = [
    ['counts as up to date', 'less', tolerance, 'wanted'],
    ['counts as outdated when it has another hash', 'other', tolerance, 'other'],
    ['has no hash when none is known', undefined, tolerance, undefined],
    ['counts as outdated when another hash is desired', 'less', { ...tolerance, desired: 'new' }, 'less'],
    ['counts as outdated when the retry is due', 'less', { ...tolerance, now: now + 60_000 }, 'less'],
    [
      'counts as up to date without end when retries are off',
      'less',
      { ...tolerance, retryAfterMs: undefined },
      'wanted',
    ],
    [
      'counts as outdated when the time cannot be parsed',
      'less',
      { ...tolerance, leftOut: { ...leftOut, at: 'yesterday' } },
      'less',
    ],
    ['counts as outdated when no step was left out', 'less', { ...tolerance, leftOut: undefined }, 'less'],
  ];
  for (const [what, actual, given, expected] of table)
    it(what, () => assert.equal(effectiveHash(actual, given), expected));
});
