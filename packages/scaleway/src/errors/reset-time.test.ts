import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resetIn } from './reset-time.ts';

test('the reset time is read from the body, else from the header, and never believed without bounds', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const table: [
    what: string,
    body: { reset_seconds?: number; reset_at?: string },
    header: string | null,
    ms: number,
  ][] = [
    ['seconds', { reset_seconds: 7 }, null, 7000],
    ['none left', { reset_seconds: 0 }, null, 0],
    ['a time', { reset_at: '2026-01-01T00:00:09Z' }, null, 9000],
    ['seconds before a time', { reset_seconds: 7, reset_at: '2026-01-01T00:00:09Z' }, null, 7000],
    ['a time that is over', { reset_at: '2025-12-31T23:59:00Z' }, null, 0],
    ['a time that is none', { reset_at: 'soon' }, '4', 4000],
    ['a header with seconds', {}, '3', 3000],
    ['a header with a date', {}, 'Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['a header that is none', {}, 'soon', 1000],
    ['an empty header', {}, '', 1000],
    ['nothing', {}, null, 1000],
    ['the body before the header', { reset_seconds: 2 }, '3', 2000],
    ['the year 9999', { reset_at: '9999-01-01T00:00:00Z' }, null, 3_600_000],
    ['more than there are numbers', { reset_seconds: Number.POSITIVE_INFINITY }, null, 3_600_000],
  ];
  for (const [what, body, header, ms] of table) assert.equal(resetIn(body, header, now), ms, what);
});
