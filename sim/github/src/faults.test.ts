import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '@tartan/kube/testing';
import { createHarness, type GitHubHarness } from './testing/harness.ts';

const runners = '/orgs/acme/actions/runners';
const list = `GET ${runners}`;
const make = `POST ${runners}/generate-jitconfig`;
const wanted = { name: 'a', runner_group_id: 1, labels: ['macos'] };
const job = { repository: 'acme/app', labels: ['macos'] };
const minute = 60_000;

const idle = async (on: GitHubHarness, name: string) => {
  const made = await on.jit(name);
  const session = await on.connect(made.config);
  const poll = on.poll(session);
  await settle();
  return { ...made, session, poll };
};

describe('injected faults', () => {
  test('a lost response: the call took effect, and a retry is a conflict', async () => {
    const { ask, github } = await createHarness();
    github.faults.calls.push({ match: /generate-jitconfig/, times: 1, with: 'lost' });
    await assert.rejects(ask(make, wanted), TypeError);
    assert.equal(github.runners().length, 1);
    assert.equal((await ask(make, wanted)).status, 409);
  });

  test('an error after the call took effect, and an error instead of it', async () => {
    const { ask, github } = await createHarness();
    github.faults.calls.push(
      { match: /generate/, times: 1, with: { status: 502 } },
      { match: /generate/, times: 1, with: { status: 502, done: true } },
    );
    assert.equal((await ask(make, wanted)).status, 502);
    assert.equal(github.runners().length, 0);
    assert.equal((await ask(make, wanted)).status, 502);
    assert.equal(github.runners().length, 1);
    assert.deepEqual(github.faults.calls, []);
  });

  test('a request that hangs until it is aborted', async () => {
    const { github } = await createHarness();
    github.faults.calls.push({ match: /GET/, times: 1, with: 'hang' });
    const enough = new AbortController();
    const open = github.fetch(`https://x.invalid${runners}`, { signal: enough.signal });
    await settle();
    enough.abort(new Error('enough'));
    await assert.rejects(open, /enough/);
  });

  test('a slow response: the call took effect at once', async () => {
    const { ask, github, clock } = await createHarness();
    github.faults.calls.push({ match: /generate/, times: 1, with: { slow: 30_000 } });
    let isThere = false;
    const answer = ask(make, wanted).then((made) => {
      isThere = true;
      return made;
    });
    await settle();
    assert.deepEqual([github.runners().length, isThere], [1, false]);
    clock.advance(30_000);
    assert.equal((await answer).status, 201);
  });

  test('a token that expires early', async () => {
    const { ask, github, newToken } = await createHarness();
    github.faults.calls.push({ match: /GET/, times: 1, with: 'expired token' });
    assert.equal((await ask(list)).status, 401);
    assert.equal((await ask(list)).status, 401);
    const fresh = await newToken();
    assert.equal((await ask(list, undefined, fresh)).status, 200);
    github.expireTokens();
    assert.equal((await ask(list, undefined, fresh)).status, 401);
  });

  test('an outage of the API or of the runner service', async () => {
    const on = await createHarness();
    const session = await on.connect((await on.jit('a')).config);
    on.github.faults.outage.api = 503;
    const html = await on.ask(list);
    assert.deepEqual([html.status, html.headers.get('content-type')], [503, 'text/html; charset=utf-8']);
    const poll = on.poll(session);
    await settle();
    on.github.faults.outage.api = 'refused';
    await assert.rejects(on.ask(list), TypeError);
    on.github.faults.outage.actions = 'refused';
    const queued = on.github.queueJob(job);
    assert.equal(queued.runner, undefined);
    await assert.rejects(on.poll(session), TypeError);
    on.github.faults.outage.api = undefined;
    on.github.faults.outage.actions = undefined;
    on.clock.advance(50_000);
    assert.equal((await poll).status, 204);
    assert.equal((await on.poll(session)).status, 200);
    assert.equal((await on.ask(list)).status, 200);
  });
});

describe('rate limits', () => {
  test('every response has the remaining quota', async () => {
    const { ask, clock, newToken } = await createHarness({ rateLimit: 2 });
    const first = await ask(list);
    const rateLimit = (name: string): number => Number(first.headers.get(`x-ratelimit-${name}`));
    assert.deepEqual([rateLimit('limit'), rateLimit('used'), rateLimit('remaining')], [2, 1, 1]);
    assert.equal(rateLimit('reset'), clock.now() / 1000 + 3600);
    await ask(list);
    const over = await ask(list);
    assert.deepEqual([over.status, over.headers.get('x-ratelimit-remaining')], [403, '0']);
    assert.match(over.body['message'] as string, /API rate limit exceeded for installation ID 7001/);
    const { core } = (await ask('GET /rate_limit')).body['resources'] as Record<string, object>;
    assert.deepEqual(core, { limit: 2, used: 2, remaining: 0, reset: rateLimit('reset') });
    // Calls as the App itself still work.
    clock.advance(3_600_000);
    assert.equal((await ask(list, undefined, await newToken())).status, 200);
  });

  test('an unchanged response costs no quota, as long as the token is the same', async () => {
    const { ask, newToken, jit } = await createHarness();
    const first = await ask(list);
    const tag = { 'if-none-match': first.headers.get('etag') ?? '' };
    const again = await ask(list, undefined, undefined, tag);
    assert.deepEqual([again.status, again.headers.get('x-ratelimit-used')], [304, '1']);
    assert.equal((await ask(list, undefined, await newToken(), tag)).status, 200);
    await jit('a');
    assert.equal((await ask(list, undefined, undefined, tag)).status, 200);
  });

  for (const status of [403, 429] as const) {
    test(`the primary limit is a ${status} until the reset`, async () => {
      const { ask, github, clock, newToken } = await createHarness();
      github.faults.calls.push({ match: /GET/, times: 1, with: { limit: 'primary', status } });
      const refused = await ask(list);
      assert.deepEqual([refused.status, refused.headers.get('x-ratelimit-remaining')], [status, '0']);
      assert.equal(refused.headers.get('retry-after'), null);
      assert.equal((await ask(list)).headers.get('x-ratelimit-remaining'), '0');
      clock.advance(Number(refused.headers.get('x-ratelimit-reset')) * 1000 - clock.now());
      assert.equal((await ask(list, undefined, await newToken())).status, 200);
    });

    test(`a secondary limit is a ${status} for a while`, async () => {
      const { ask, github, clock } = await createHarness();
      github.faults.calls.push({ match: /GET/, times: 1, with: { limit: 'secondary', seconds: 60, status } });
      const refused = await ask(list);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [status, '60']);
      assert.match(refused.body['message'] as string, /secondary rate limit/);
      clock.advance(59_000);
      assert.deepEqual((await ask(make, wanted)).headers.get('retry-after'), '1');
      clock.advance(1000);
      assert.equal((await ask(list)).status, 200);
    });
  }

  test('a secondary limit may have no retry-after', async () => {
    const { ask, github } = await createHarness();
    github.faults.calls.push({ match: /GET/, times: 1, with: { limit: 'secondary', seconds: 60, tells: false } });
    const refused = await ask(list);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [403, null]);
  });
});

describe('stale runner status', () => {
  test('a runner comes online late or never, and gets no job until then', async () => {
    const on = await createHarness();
    on.github.faults.registrations.push(
      { match: /^late$/, times: 1, with: { after: 5 * minute } },
      { match: /^never$/, times: 1, with: 'never' },
    );
    const late = await idle(on, 'late');
    await idle(on, 'never');
    const queued = on.github.queueJob(job);
    assert.equal(on.github.jobs()[0]?.runner, undefined);
    on.clock.advance(5 * minute);
    await late.poll;
    void on.poll(late.session);
    await settle();
    assert.equal(queued.runner?.name, 'late');
    assert.deepEqual(
      on.github.runners().map(({ name, isOnline }) => [name, isOnline]),
      [
        ['late', true],
        ['never', false],
      ],
    );
    on.clock.advance(24 * 60 * minute);
    assert.ok(on.github.history.some(({ type: what, runner }) => what === 'runner removed' && runner === 'never'));
    await on.github.stop();
  });

  test('a busy runner is shown as idle for a while; a DELETE is rejected, or accepted', async () => {
    const on = await createHarness();
    on.github.faults.staleBusyFor = minute;
    const runner = await idle(on, 'a');
    const queued = on.github.queueJob(job);
    await on.report(runner.session, queued.id, 'started');
    const busy = async () => (await on.ask(`GET ${runners}/${runner.id}`)).body['busy'];
    assert.equal(await busy(), false);
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 422);
    on.clock.advance(minute);
    assert.equal(await busy(), true);

    on.github.faults.staleBusyFor = 2 * minute;
    on.github.faults.deleteWhileStale = 'accepted';
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 204);
    assert.equal((await on.ask(`GET ${runners}/${runner.id}`)).status, 404);
    // The job continues, as long as its machine is not deleted.
    assert.equal(await on.report(runner.session, queued.id, 'renew'), 204);
    assert.equal(await on.report(runner.session, queued.id, 'finished'), 204);
    assert.deepEqual([queued.conclusion, on.github.lostJobs()], ['success', []]);
    assert.equal((await on.poll(runner.session)).status, 401);
  });

  test('a job is assigned right after a response that its runner is idle', async () => {
    const on = await createHarness();
    on.github.faults.jobsAfterIdle.push({ ...job, labels: ['linux'] }, job);
    const runner = await idle(on, 'a');
    const { body } = await on.ask(list);
    assert.equal((body['runners'] as { busy: boolean }[])[0]?.busy, false);
    assert.equal((await runner.poll).status, 200);
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 422);
    assert.equal(on.github.faults.jobsAfterIdle.length, 1);
    assert.deepEqual((await on.ask(`GET ${runners}/${runner.id}`)).body['busy'], true);
  });

  test('a runner remains after its job, busy and with its name', async () => {
    const on = await createHarness();
    on.github.faults.lingersFor = 20_000;
    const runner = await idle(on, 'a');
    const queued = on.github.queueJob(job);
    await on.report(runner.session, queued.id, 'started');
    await on.report(runner.session, queued.id, 'finished');
    assert.equal(queued.status, 'completed');
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 422);
    assert.equal((await on.ask(make, wanted)).status, 409);
    assert.equal((await on.poll(runner.session)).status, 401);
    on.clock.advance(20_000);
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 404);
    assert.equal((await on.ask(make, wanted)).status, 201);
  });
});
