import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createHarness, labels, organization } from '../testing/harness.ts';
import { operations, runnerOperations } from './operations.ts';
import { createRateLimiter, readLimit, readQuota } from './rate-limit.ts';

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
  { what: 'a stated pause', status: 403, headers: { 'retry-after': '30' }, said: secondary, wait: 30 },
  {
    what: 'a stated pause goes before the reset',
    status: 429,
    headers: { 'retry-after': '30', ...spent(seconds + 1200) },
    wait: 30,
  },
  { what: 'a pause that is not stated', status: 403, said: secondary, wait: 60 },
  { what: 'the old word for it', status: 403, said: 'You have triggered an abuse detection mechanism', wait: 60 },
  { what: 'not stated, the second time', status: 403, said: secondary, guesses: 1, wait: 120 },
  { what: 'not stated, again and again', status: 403, said: secondary, guesses: 40, wait: 900 },
  { what: '429 and nothing else', status: 429, wait: 60 },
  { what: 'a reset that has passed', status: 403, headers: spent(seconds - 10), wait: 60 },
  { what: 'a reset that is nonsense', status: 403, headers: spent('soon'), wait: 60 },
  { what: 'a reset in another century', status: 403, headers: spent(seconds + 9_999_999), wait: 3600 },
  { what: 'a pause of no time', status: 429, headers: { 'retry-after': '0' }, wait: 60 },
];

for (const { what, status, headers = {}, said: errorMessage = '', guesses = 0, wait } of rows) {
  test(`wait time: ${what}`, () => {
    const limit = readLimit({ status, headers: new Headers(headers), errorMessage }, now, guesses);
    assert.equal(limit === undefined ? undefined : (limit.retryAt - now) / 1000, wait);
  });
}

test('a limit of one resource does not limit others', () => {
  const headers = new Headers({ ...spent(seconds + 60), 'x-ratelimit-resource': 'actions_runner_registration' });
  assert.equal(readLimit({ status: 403, headers, errorMessage: '' }, now, 0)?.isForAll, false);
  assert.equal(readQuota(headers, now), undefined);
  headers.set('x-ratelimit-resource', 'core');
  assert.equal(readLimit({ status: 403, headers, errorMessage: '' }, now, 0)?.isForAll, true);
  assert.equal(readQuota(headers, now), undefined, 'without the limit');
  headers.set('x-ratelimit-limit', '5000');
  assert.deepEqual(readQuota(headers, now), { limit: 5000, remaining: 0, resetAt: now + 60_000 });
  headers.set('x-ratelimit-reset', '999999999999');
  assert.equal(readQuota(headers, now)?.resetAt, now + 3_600_000);
});

const minute = 60_000;

describe('rate limits of GitHub', () => {
  for (const status of [403, 429] as const) {
    test(`when the quota is used up (${status}), no request is sent before the reset`, async () => {
      const { github, clock, mintRunner, service } = createHarness();
      const { id } = await mintRunner('one');
      github.faults.calls.push({ match: /GET/, times: 1, with: { limit: 'primary', status } });
      const got = await service().get(id);
      assert.ok(got.kind === 'problem' && got.reason === 'RateLimited');
      assert.equal(got.retryAt, clock.now() + 60 * minute);
      const before = github.requests.length;
      const removed = await service().remove(id);
      assert.ok(removed.kind === 'problem' && removed.reason === 'RateLimited' && removed.retryAt === got.retryAt);
      assert.equal(github.requests.length, before);
      clock.advance(60 * minute);
      assert.equal((await service().get(id)).kind, 'found');
    });
  }

  test('Retry-After is respected', async () => {
    const { github, clock, mintRunner, service } = createHarness();
    const { id } = await mintRunner('one');
    github.faults.calls.push({ match: /GET/, times: 1, with: { limit: 'secondary', seconds: 90 } });
    const got = await service().get(id);
    assert.ok(got.kind === 'problem' && got.retryAt === clock.now() + 90_000);
    clock.advance(89_000);
    const before = github.requests.length;
    assert.equal((await service().get(id)).kind, 'problem');
    assert.equal(github.requests.length, before);
    clock.advance(1000);
    assert.equal((await service().get(id)).kind, 'found');
  });

  test('without Retry-After the wait is one minute, then two, and resets after a success', async () => {
    const { github, clock, mintRunner, service } = createHarness();
    const { id } = await mintRunner('one');
    const waits: number[] = [];
    const pause = { limit: 'secondary', seconds: 100, tells: false } as const;
    github.faults.calls.push({ match: /GET/, times: 1, with: pause });
    for (let tried = 0; tried < 5; tried += 1) {
      const got = await service().get(id);
      if (got.kind === 'problem') {
        waits.push(((got.retryAt ?? 0) - clock.now()) / 1000);
        clock.advance((got.retryAt ?? 0) - clock.now());
      } else if (waits.length === 2) {
        github.faults.calls.push({ match: /GET/, times: 1, with: pause });
      }
    }
    assert.deepEqual(waits, [60, 120, 60, 120]);
  });

  test('background calls use half of the quota, spread over the hour', () => {
    const clock = manualClock();
    const limiter = createRateLimiter(clock);
    const reset = String(clock.now() / 1000 + 3600);
    let remaining = 5000;
    const spend = (): void => {
      remaining -= 1;
      const headers = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': String(remaining) };
      limiter.observeResponse(operations.runs, {
        status: 200,
        headers: new Headers({ ...headers, 'x-ratelimit-reset': reset }),
        errorMessage: '',
      });
    };
    const left: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      while (limiter.blockedUntil(operations.runs) === undefined) spend();
      assert.ok((limiter.blockedUntil(operations.runs) ?? 0) <= clock.now() + minute);
      assert.equal(limiter.blockedUntil(runnerOperations(organization).remove), undefined);
      left.push(remaining);
      clock.advance(minute);
    }
    assert.ok(Math.abs((left[0] ?? 0) - 4750) < 50, `at the beginning of the hour ${left[0]} are left`);
    assert.ok(Math.abs((left[30] ?? 0) - 3500) < 50, `in the middle ${left[30]}`);
    assert.ok(Math.abs((left[59] ?? 0) - 2290) < 50, `at its end ${left[59]}`);
  });

  test('required calls continue while background calls are blocked', async () => {
    const { clock, service } = createHarness({ rateLimit: 100 });
    for (let calls = 0; calls < 80; calls += 1) assert.equal((await service().find('nobody')).kind, 'none');
    for (const look of [service().list(), service().queue(labels)]) {
      const looked = await look;
      assert.ok(
        looked.kind === 'problem' && looked.reason === 'RateLimited' && looked.retryAt === clock.now() + 60 * minute,
      );
    }
    assert.equal((await service().mint({ name: 'one', labels, group: undefined })).kind, 'minted');
    clock.advance(60 * minute);
    assert.equal((await service().list()).kind, 'listed');
  });

  test('token requests are limited too', async () => {
    const { github, clock, service } = createHarness();
    github.faults.calls.push({ match: /access_tokens/, times: 1, with: { limit: 'secondary', seconds: 90 } });
    assert.equal((await service().list()).kind, 'problem');
    const before = github.requests.length;
    const listed = await service().list();
    assert.ok(listed.kind === 'problem' && listed.retryAt === clock.now() + 90_000);
    assert.equal(github.requests.length, before);
    clock.advance(90_000);
    assert.equal((await service().list()).kind, 'listed');
  });

  test('services of one installation share its limits', async () => {
    const { github, app, service } = createHarness({
      installations: [
        {
          id: 7001,
          account: 'acme',
          repositories: ['app'],
          permissions: { organization_self_hosted_runners: 'write' },
        },
        { id: 7002, account: 'other', repositories: [], permissions: { organization_self_hosted_runners: 'write' } },
      ],
    });
    const other = service({
      app: { ...app, installationID: '7002' },
      owner: { kind: 'organization', organization: 'other' },
    });
    github.faults.calls.push({ match: /orgs.acme/, times: 1, with: { limit: 'primary' } });
    assert.equal((await service().list()).kind, 'problem');
    assert.equal((await service({ owner: { kind: 'repository', repository: 'acme/app' } }).list()).kind, 'problem');
    assert.equal((await other.list()).kind, 'listed');
  });

  test('the longer of two concurrent limits counts', () => {
    const clock = manualClock();
    const limiter = createRateLimiter(clock);
    const { get, remove } = runnerOperations(organization);
    limiter.observeResponse(get, { status: 429, headers: new Headers({ 'retry-after': '600' }), errorMessage: '' });
    limiter.observeResponse(get, { status: 429, headers: new Headers({ 'retry-after': '10' }), errorMessage: '' });
    assert.equal(limiter.blockedUntil(remove), clock.now() + 600_000);
  });

  test('registrations and token requests have their own limits', () => {
    const clock = manualClock();
    const limiter = createRateLimiter(clock);
    const { mint, remove } = runnerOperations(organization);
    const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(clock.now() / 1000 + 600) };
    const own = new Headers({ ...spent, 'x-ratelimit-resource': 'actions_runner_registration' });
    limiter.observeResponse(mint, { status: 403, headers: own, errorMessage: '' });
    assert.equal(limiter.blockedUntil(mint), clock.now() + 600_000);
    assert.equal(limiter.blockedUntil(remove), undefined);
    limiter.observeResponse(operations.accessToken, { status: 403, headers: new Headers(spent), errorMessage: '' });
    assert.equal(limiter.blockedUntil(operations.accessToken), clock.now() + 600_000);
    assert.equal(limiter.blockedUntil(operations.runs), undefined);
  });
});
