import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { operations, runnerOperations } from '../http/operations.ts';
import { labels, organization, stage } from '../testing/stage.ts';
import { createAllowance } from './allowance.ts';

const minute = 60_000;

describe('limits of GitHub', () => {
  for (const status of [403, 429] as const) {
    test(`the hour is used up (${status}): nobody asks before it is over`, async () => {
      const { github, clock, minted, service } = stage();
      const { id } = await minted('one');
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

  test('a pause that GitHub tells is kept to', async () => {
    const { github, clock, minted, service } = stage();
    const { id } = await minted('one');
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

  test('a pause that GitHub does not tell is a minute, then two, and a minute again after a success', async () => {
    const { github, clock, minted, service } = stage();
    const { id } = await minted('one');
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

  test('looking spends half of an hour, spread over it', () => {
    const clock = manualClock();
    const allowance = createAllowance(clock);
    const reset = String(clock.now() / 1000 + 3600);
    let remaining = 5000;
    const spend = (): void => {
      remaining -= 1;
      const headers = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': String(remaining) };
      allowance.heard(operations.runs, {
        status: 200,
        headers: new Headers({ ...headers, 'x-ratelimit-reset': reset }),
        said: '',
      });
    };
    const left: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      while (allowance.closedUntil(operations.runs) === undefined) spend();
      assert.ok((allowance.closedUntil(operations.runs) ?? 0) <= clock.now() + minute);
      assert.equal(allowance.closedUntil(runnerOperations(organization).remove), undefined);
      left.push(remaining);
      clock.advance(minute);
    }
    assert.ok(Math.abs((left[0] ?? 0) - 4750) < 50, `at the beginning of the hour ${left[0]} are left`);
    assert.ok(Math.abs((left[30] ?? 0) - 3500) < 50, `in the middle ${left[30]}`);
    assert.ok(Math.abs((left[59] ?? 0) - 2290) < 50, `at its end ${left[59]}`);
  });

  test('what acts goes on when looking has to wait, and looking when the hour is over', async () => {
    const { clock, service } = stage({ rateLimit: 100 });
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

  test('an App that asks for too many tokens waits too', async () => {
    const { github, clock, service } = stage();
    github.faults.calls.push({ match: /access_tokens/, times: 1, with: { limit: 'secondary', seconds: 90 } });
    assert.equal((await service().list()).kind, 'problem');
    const before = github.requests.length;
    const listed = await service().list();
    assert.ok(listed.kind === 'problem' && listed.retryAt === clock.now() + 90_000);
    assert.equal(github.requests.length, before);
    clock.advance(90_000);
    assert.equal((await service().list()).kind, 'listed');
  });

  test('who shares an App shares its limits, and nobody else does', async () => {
    const { github, app, service } = stage({
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

  test('of two limits that are heard of together, the longer one counts', () => {
    const clock = manualClock();
    const allowance = createAllowance(clock);
    const { get, remove } = runnerOperations(organization);
    allowance.heard(get, { status: 429, headers: new Headers({ 'retry-after': '600' }), said: '' });
    allowance.heard(get, { status: 429, headers: new Headers({ 'retry-after': '10' }), said: '' });
    assert.equal(allowance.closedUntil(remove), clock.now() + 600_000);
  });

  test('registering may be limited for itself, and making tokens always is', () => {
    const clock = manualClock();
    const allowance = createAllowance(clock);
    const { mint, remove } = runnerOperations(organization);
    const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(clock.now() / 1000 + 600) };
    const own = new Headers({ ...spent, 'x-ratelimit-resource': 'actions_runner_registration' });
    allowance.heard(mint, { status: 403, headers: own, said: '' });
    assert.equal(allowance.closedUntil(mint), clock.now() + 600_000);
    assert.equal(allowance.closedUntil(remove), undefined);
    allowance.heard(operations.accessToken, { status: 403, headers: new Headers(spent), said: '' });
    assert.equal(allowance.closedUntil(operations.accessToken), clock.now() + 600_000);
    assert.equal(allowance.closedUntil(operations.runs), undefined);
  });
});
