import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsAs, type Tolerance } from './left-out.ts';

const at = '2026-01-01T00:00:00Z';
const now = Date.parse(at) + 60_000;
const leftOut = { desired: 'wanted', actual: 'less', message: 'node_exporter did not start', at };
const tolerance: Tolerance = { desired: 'wanted', leftOut, now, retryAfterMs: 120_000 };

describe('a Mac without a step that may fail', () => {
  const table: readonly (readonly [string, string | undefined, Tolerance, string | undefined])[] = [
    ['counts as up to date', 'less', tolerance, 'wanted'],
    ['counts as what it is, when that is something else', 'other', tolerance, 'other'],
    ['counts as what it is, when nobody knows that', undefined, tolerance, undefined],
    ['does not count any more, when something else is wanted', 'less', { ...tolerance, desired: 'new' }, 'less'],
    ['does not count any more, when it is to be tried again', 'less', { ...tolerance, now: now + 60_000 }, 'less'],
    ['counts for ever, when nothing is tried again', 'less', { ...tolerance, retryAfterMs: undefined }, 'wanted'],
    [
      'does not count since a time that is none',
      'less',
      { ...tolerance, leftOut: { ...leftOut, at: 'yesterday' } },
      'less',
    ],
    ['nothing was left out', 'less', { ...tolerance, leftOut: undefined }, 'less'],
  ];
  for (const [what, actual, given, expected] of table) it(what, () => assert.equal(countsAs(actual, given), expected));
});
