import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '@tartan/kube/testing';
import { createHarness, type GitHubHarness } from '../testing/harness.ts';
import { statusOfRun } from './endpoints.ts';
import type { JobRecord } from './jobs.ts';

const runners = '/orgs/acme/actions/runners';
const job = { repository: 'acme/app', labels: ['macos'] };
const minute = 60_000;

/** A runner that asks for work. */
const idle = async (on: GitHubHarness, name: string, labels?: string[], owner?: string) => {
  const made = await on.jit(name, labels, owner);
  const session = await on.connect(made.config);
  const poll = on.poll(session);
  await settle();
  return { ...made, session, poll };
};
const busyShown = async ({ ask, newToken }: GitHubHarness, id: number): Promise<unknown[]> => {
  const { body } = await ask(`GET ${runners}/${id}`, undefined, await newToken());
  return [body['status'], body['busy']];
};

describe('a job', () => {
  test('is assigned to a polling runner, which is deleted after the job', async () => {
    const on = await createHarness();
    const runner = await idle(on, 'a');
    assert.deepEqual(await busyShown(on, runner.id), ['online', false]);
    const queued = on.github.queueJob(job);
    assert.deepEqual((await runner.poll).body, {
      job: { id: queued.id, run_id: queued.runID, name: 'build', repository: 'acme/app', labels: ['macos'] },
    });
    assert.deepEqual(await busyShown(on, runner.id), ['online', true]);
    assert.equal(queued.status, 'queued');
    assert.equal(await on.report(runner.session, queued.id, 'started'), 204);
    assert.equal(queued.status, 'in_progress');
    const refused = await on.ask(`DELETE ${runners}/${runner.id}`);
    assert.deepEqual(
      [refused.status, refused.body['message']],
      [422, 'Runner a is currently running a job and cannot be deleted.'],
    );
    assert.equal(await on.report(runner.session, queued.id, 'finished'), 204);
    assert.deepEqual([queued.status, queued.conclusion], ['completed', 'success']);
    assert.deepEqual(on.github.runners(), []);
    assert.equal((await on.poll(runner.session)).status, 401);
    assert.deepEqual(
      on.github.history.map(({ type: what }) => what).filter((what) => what !== 'token made'),
      [
        'runner registered',
        'runner online',
        'job queued',
        'job assigned',
        'job started',
        'job finished',
        'runner removed',
      ],
    );
    assert.deepEqual(on.github.lostJobs(), []);
  });

  const fits: [name: string, runner: string[], owner: string, wanted: object, isGiven: boolean][] = [
    ['all of its labels, in any case', ['MACOS', 'xcode'], 'orgs/acme', { labels: ['macos', 'Xcode'] }, true],
    ['one label more than it has', ['macos'], 'orgs/acme', { labels: ['macos', 'xcode'] }, false],
    ['its repository', ['macos'], 'repos/acme/app', {}, true],
    ['another repository', ['macos'], 'repos/acme/lib', {}, false],
    ['its group', ['macos'], 'orgs/acme', { group: 'default' }, true],
    ['another group', ['macos'], 'orgs/acme', { group: 'macs' }, false],
  ];
  for (const [name, labels, owner, wanted, isGiven] of fits) {
    test(`of ${name} ${isGiven ? 'is' : 'is not'} assigned to a runner`, async () => {
      const permissions = { organization_self_hosted_runners: 'write', administration: 'write' } as const;
      const on = await createHarness({
        installations: [{ id: 7001, account: 'acme', repositories: ['app', 'lib'], permissions }],
      });
      await idle(on, 'a', labels, owner);
      const queued = on.github.queueJob({ ...job, ...wanted });
      assert.equal(queued.runner?.name, isGiven ? 'a' : undefined);
      await on.github.stop();
    });
  }

  test('of a repository outside a runner group is not assigned to its runners', async () => {
    const permissions = { organization_self_hosted_runners: 'write' } as const;
    const on = await createHarness({
      installations: [{ id: 7001, account: 'acme', repositories: ['app', 'lib'], permissions }],
      runnerGroups: [{ id: 5, name: 'macs', repositories: ['lib'] }],
    });
    const wanted = { name: 'a', runner_group_id: 5, labels: ['macos'] };
    const { body } = await on.ask(`POST ${runners}/generate-jitconfig`, wanted);
    void on.poll(await on.connect(body['encoded_jit_config'] as string));
    await settle();
    assert.equal(on.github.queueJob(job).runner, undefined);
    assert.equal(on.github.queueJob({ ...job, repository: 'acme/lib' }).runner?.name, 'a');
    await on.github.stop();
  });

  test('waits for a runner, and no runner gets two', async () => {
    const on = await createHarness();
    const [first, second] = [on.github.queueJob(job), on.github.queueJob(job)];
    const runner = await idle(on, 'a');
    await runner.poll;
    await on.report(runner.session, first.id, 'started');
    // A runner keeps polling during a job, to learn of a cancellation.
    void on.poll(runner.session);
    await settle();
    assert.deepEqual([first.runner?.name, second.runner], ['a', undefined]);
    const other = await idle(on, 'b');
    await other.poll;
    assert.equal(on.github.jobs()[1]?.runner?.name, 'b');
    await on.github.stop();
  });

  test('that is not started within a minute is assigned to another runner', async () => {
    const on = await createHarness();
    const lazy = await idle(on, 'a');
    const queued = on.github.queueJob(job);
    await lazy.poll;
    const other = await idle(on, 'b');
    on.clock.advance(49_000);
    assert.equal(queued.runner?.name, 'a');
    on.clock.advance(11_000);
    await settle();
    void on.poll(other.session);
    await settle();
    assert.equal(queued.runner?.name, 'b');
    assert.equal(await on.report(lazy.session, queued.id, 'started'), 404);
    await on.github.stop();
  });

  test('is delivered again if the response was lost', async () => {
    const on = await createHarness();
    const { config } = await on.jit('a');
    const session = await on.connect(config);
    on.github.faults.calls.push({ match: /poll/, times: 1, with: 'lost' });
    const queued = on.github.queueJob(job);
    await assert.rejects(on.poll(session), TypeError);
    assert.equal(((await on.poll(session)).body['job'] as { id: number }).id, queued.id);
  });

  test('whose runner does not report for ten minutes is lost, and so is its runner', async () => {
    const on = await createHarness();
    const runner = await idle(on, 'a');
    const queued = on.github.queueJob(job);
    await runner.poll;
    await on.report(runner.session, queued.id, 'started');
    on.clock.advance(9 * minute);
    assert.equal(await on.report(runner.session, queued.id, 'renew'), 204);
    on.clock.advance(10 * minute - 1);
    // Until then it is offline, busy, and cannot be deleted.
    assert.deepEqual(await busyShown(on, runner.id), ['offline', true]);
    assert.equal((await on.ask(`DELETE ${runners}/${runner.id}`)).status, 422);
    assert.deepEqual(on.github.lostJobs(), []);
    on.clock.advance(1);
    assert.deepEqual(on.github.lostJobs(), [queued]);
    assert.deepEqual([queued.status, queued.conclusion], ['completed', 'failure']);
    assert.deepEqual(on.github.runners(), []);
    assert.equal(await on.report(runner.session, queued.id, 'finished'), 401);
  });

  test('that no runner takes fails after a day', async () => {
    const on = await createHarness();
    const queued = on.github.queueJob(job);
    on.clock.advance(24 * 60 * minute);
    assert.deepEqual([queued.status, queued.conclusion, queued.lost], ['completed', 'failure', false]);
    assert.equal(on.github.history.at(-1)?.type, 'job expired');
  });

  test('of an unknown repository throws', async () => {
    const { github } = await createHarness();
    assert.throws(() => github.queueJob({ ...job, repository: 'acme/none' }), /no repository acme\/none/);
  });
});

describe('workflow runs', () => {
  const runs = 'GET /repos/acme/app/actions/runs';

  test('are listed by status, with their jobs', async () => {
    const on = await createHarness();
    const first = on.github.queueJob({ ...job, name: 'test' });
    on.github.queueJob({ ...job, name: 'lint', labels: ['other'], runID: first.runID });
    const { body } = await on.ask(`${runs}?status=queued`);
    assert.equal(body['total_count'], 1);
    const [run] = body['workflow_runs'] as Record<string, unknown>[];
    assert.deepEqual([run?.['id'], run?.['status'], run?.['conclusion']], [first.runID, 'queued', null]);
    const jobs = async () => {
      const answer = await on.ask(`${runs}/${first.runID}/jobs`);
      return (answer.body['jobs'] as Record<string, unknown>[]).map((each) => [
        each['name'],
        each['status'],
        each['runner_name'],
      ]);
    };
    const runner = await idle(on, 'a');
    await runner.poll;
    assert.deepEqual(await jobs(), [
      ['test', 'queued', ''],
      ['lint', 'queued', ''],
    ]);
    await on.report(runner.session, first.id, 'started');
    assert.deepEqual(await jobs(), [
      ['test', 'in_progress', 'a'],
      ['lint', 'queued', ''],
    ]);
    assert.equal((await on.ask(`${runs}?status=queued`)).body['total_count'], 0);
    assert.equal((await on.ask(`${runs}?status=in_progress`)).body['total_count'], 1);
    assert.equal((await on.ask(`${runs}/1/jobs`)).status, 404);
  });

  const statuses: [jobs: JobRecord['status'][], run: JobRecord['status']][] = [
    [['queued', 'queued'], 'queued'],
    [['queued', 'completed'], 'in_progress'],
    [['in_progress', 'completed'], 'in_progress'],
    [['completed', 'completed'], 'completed'],
  ];
  for (const [jobs, run] of statuses) {
    test(`with jobs that are ${jobs.join(' and ')} are ${run}`, () => {
      assert.equal(statusOfRun(jobs.map((status) => ({ status }))), run);
    });
  }
});

describe('a runner', () => {
  test('is online while it polls, and a minute longer', async () => {
    const on = await createHarness();
    const runner = await idle(on, 'a');
    on.clock.advance(50_000);
    assert.equal((await runner.poll).status, 204);
    on.clock.advance(minute - 1);
    assert.equal(on.github.runners()[0]?.isOnline, true);
    on.clock.advance(1);
    assert.equal(on.github.runners()[0]?.isOnline, false);
    void on.poll(runner.session);
    await settle();
    assert.equal(on.github.runners()[0]?.isOnline, true);
    await on.github.stop();
  });

  test('has one session, and another only after the first is closed', async () => {
    const on = await createHarness();
    const { config } = await on.jit('a');
    const first = await on.connect(config);
    assert.equal((await on.ask('POST /_actions/sessions', { jit_config: config }, '')).status, 409);
    on.clock.advance(minute);
    assert.equal((await on.ask('POST /_actions/sessions', { jit_config: config }, '')).status, 201);
    assert.equal((await on.poll(first)).status, 401);
    assert.equal((await on.ask('POST /_actions/sessions', { jit_config: 'bm9uZQ==' }, '')).status, 401);
  });

  test('that disconnects during a poll gets no job', async () => {
    const on = await createHarness();
    const session = await on.connect((await on.jit('a')).config);
    const left = new AbortController();
    const poll = on.github.fetch(`https://x.invalid/_actions/sessions/${session}/poll`, {
      method: 'POST',
      signal: left.signal,
    });
    await settle();
    left.abort(new Error('left'));
    await assert.rejects(poll, /left/);
    assert.equal(on.github.queueJob(job).runner, undefined);
  });

  test('that disconnects before its poll is handled gets no job', async () => {
    const on = await createHarness();
    const session = await on.connect((await on.jit('a')).config);
    void on.github.handle({
      method: 'POST',
      path: `/_actions/sessions/${session}/poll`,
      query: new URLSearchParams(),
      headers: {},
      body: '',
      signal: AbortSignal.abort(),
    });
    assert.equal(on.github.queueJob(job).runner, undefined);
  });
});
