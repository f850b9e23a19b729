import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFigures, readLimit } from './read-limit.ts';

const now = 1_000_000_000_000;
const seconds = now / 1000;
const spent = (reset: number | string): Record<string, string> => ({
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': String(reset),
});
const secondary = 'You have exceeded a secondary rate limit';

const rows: readonly {
  readonly what: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly said?: string;
  readonly guesses?: number;
  /** Seconds to wait; undefined: no limit. */
  readonly wait: number | undefined;
}[] = [
  { what: 'an answer is none', status: 200, headers: spent(seconds + 60), wait: undefined },
  { what: 'a missing right is none', status: 403, said: 'Resource not accessible by integration', wait: undefined },
  { what: 'a failure is none', status: 503, headers: { 'retry-after': '5' }, wait: undefined },
  { what: 'the hour is used up', status: 403, headers: spent(seconds + 1200), wait: 1200 },
  { what: 'the hour is used up, as 429', status: 429, headers: spent(seconds + 1200), wait: 1200 },
  { what: 'a pause that is told', status: 403, headers: { 'retry-after': '30' }, said: secondary, wait: 30 },
  {
    what: 'a pause that is told goes before the reset',
    status: 429,
    headers: { 'retry-after': '30', ...spent(seconds + 1200) },
    wait: 30,
  },
  { what: 'a pause that is not told', status: 403, said: secondary, wait: 60 },
  { what: 'the old word for it', status: 403, said: 'You have triggered an abuse detection mechanism', wait: 60 },
  { what: 'not told, the second time', status: 403, said: secondary, guesses: 1, wait: 120 },
  { what: 'not told, again and again', status: 403, said: secondary, guesses: 40, wait: 900 },
  { what: '429 and nothing else', status: 429, wait: 60 },
  { what: 'a reset that has passed', status: 403, headers: spent(seconds - 10), wait: 60 },
  { what: 'a reset that is nonsense', status: 403, headers: spent('soon'), wait: 60 },
  { what: 'a reset in another century', status: 403, headers: spent(seconds + 9_999_999), wait: 3600 },
  { what: 'a pause of no time', status: 429, headers: { 'retry-after': '0' }, wait: 60 },
];

for (const { what, status, headers = {}, said = '', guesses = 0, wait } of rows) {
  test(`limits: ${what}`, () => {
    const limit = readLimit({ status, headers: new Headers(headers), said }, now, guesses);
    assert.equal(limit === undefined ? undefined : (limit.retryAt - now) / 1000, wait);
  });
}

test('a limit of one kind of call is not one of all', () => {
  const headers = new Headers({ ...spent(seconds + 60), 'x-ratelimit-resource': 'actions_runner_registration' });
  assert.equal(readLimit({ status: 403, headers, said: '' }, now, 0)?.isForAll, false);
  assert.equal(readFigures(headers, now), undefined);
  headers.set('x-ratelimit-resource', 'core');
  assert.equal(readLimit({ status: 403, headers, said: '' }, now, 0)?.isForAll, true);
  assert.equal(readFigures(headers, now), undefined, 'of how many is not told');
  headers.set('x-ratelimit-limit', '5000');
  assert.deepEqual(readFigures(headers, now), { limit: 5000, remaining: 0, resetAt: now + 60_000 });
  headers.set('x-ratelimit-reset', '999999999999');
  assert.equal(readFigures(headers, now)?.resetAt, now + 3_600_000);
});
