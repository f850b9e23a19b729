import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallReport } from '../http/exchange.ts';
import type { Repository } from '../http/responses.ts';
import { createHarness, labels, organization, repository } from '../testing/harness.ts';
import { chooseRepositories, matchingJobs, maxRepositories, maxRuns } from './queued-jobs.ts';

const offered = ['self-hosted', 'macOS', 'ARM64'];
const at = '2026-01-01T00:00:10Z';

for (const [what, status, labels, counts] of [
  ['all that a runner has', 'queued', ['self-hosted', 'macOS', 'ARM64'], true],
  ['some of it', 'queued', ['macOS'], true],
  ['whatever the case', 'queued', ['MACOS', 'arm64'], true],
  ['one that it has not', 'queued', ['macOS', 'xcode-26'], false],
  ['one of GitHub’s own', 'queued', ['macos-latest'], false],
  ['no labels, only a group', 'queued', [], false],
  ['one that runs', 'in_progress', ['macOS'], false],
  ['one that waits for a permission', 'waiting', ['macOS'], false],
] as const) {
  test(`whether a job matches the labels of the runners: ${what}`, () => {
    const { jobs, oldestSince } = matchingJobs([{ id: 1, status, created_at: at, labels: [...labels] }], offered);
    assert.equal(jobs, counts ? 1 : 0);
    assert.equal(oldestSince, counts ? Date.parse(at) : undefined);
  });
}

test('repositories are those of the organisation that are in use, the latest push first', () => {
  const one = (full_name: string, more: Partial<Repository> = {}): Repository => ({
    id: 1,
    full_name,
    pushed_at: at,
    ...more,
  });
  const all = [
    one('acme/never', { pushed_at: null }),
    one('acme/old', { pushed_at: '2020-01-01T00:00:00Z' }),
    one('ACME/new'),
    one('acme/archived', { archived: true }),
    one('acme/disabled', { disabled: true }),
    one('acme-two/other'),
  ];
  assert.deepEqual(chooseRepositories(all, 'acme'), ['ACME/new', 'acme/old', 'acme/never']);
});

const installation = (repositories: readonly string[]): Parameters<typeof createHarness>[0] => ({
  installations: [
    {
      id: 7001,
      account: 'acme',
      repositories,
      permissions: { organization_self_hosted_runners: 'write', administration: 'write', actions: 'read' },
    },
  ],
});

describe('queued jobs', () => {
  for (const owner of [organization, repository]) {
    test(`are counted by their labels, with the age of the oldest: ${owner.kind}`, async () => {
      const { github, clock, service } = createHarness();
      const runners = service({ owner });
      assert.deepEqual(await runners.queue(labels), { kind: 'known', queue: { jobs: 0 } });
      const since = clock.now();
      github.queueJob({ repository: 'acme/app', labels: ['SELF-HOSTED', 'macos'] });
      clock.advance(5000);
      github.queueJob({ repository: 'acme/app', labels: ['macOS'] });
      github.queueJob({ repository: 'acme/app', labels: ['macOS', 'GPU'] });
      assert.deepEqual(await runners.queue(labels), { kind: 'known', queue: { jobs: 2, oldestSince: since } });
    });
  }

  test('are also counted in a run that has partly started', async () => {
    const { github, mintRunner, startRunner, service, end } = createHarness();
    for (let at = 0; at < 3; at += 1) github.queueJob({ repository: 'acme/app', labels, runID: 5 });
    await startRunner((await mintRunner('one')).jitConfig).busy;
    assert.equal(github.jobs()[0]?.status, 'in_progress');
    const { queue } = (await service({ owner: repository }).queue(labels)) as { queue: { jobs: number } };
    assert.equal(queue.jobs, 2);
    await end();
  });

  test('of an organisation are found in any of its repositories; a quiet repository costs no request', async () => {
    const { github, clock, service } = createHarness(installation(['app', 'site', 'tools']));
    github.queueJob({ repository: 'acme/site', labels });
    github.queueJob({ repository: 'acme/tools', labels });
    const statuses: CallReport['status'][] = [];
    const runners = service({ onCall: ({ status }) => statuses.push(status) });
    const first = await runners.queue(labels);
    assert.ok(first.kind === 'known' && first.queue.jobs === 2);
    statuses.length = 0;
    const second = await runners.queue(labels);
    assert.deepEqual(second, first);
    assert.deepEqual(new Set(statuses), new Set([304]));
    statuses.length = 0;
    clock.advance(1000);
    github.queueJob({ repository: 'acme/app', labels });
    const third = await runners.queue(labels);
    assert.ok(third.kind === 'known' && third.queue.jobs === 3);
    // The list of repositories, the runs of the one that has changed, and its new run's jobs.
    assert.equal(statuses.filter((status) => status === 200).length, 3);
  });

  test('are searched only in the repositories with the latest pushes', async () => {
    const names = Array.from({ length: 130 }, (_, at) => `repo-${at}`);
    const { github, clock, service } = createHarness(installation(names));
    clock.advance(1000);
    // On the second page of the list.
    github.queueJob({ repository: 'acme/repo-120', labels });
    const got = await service().queue(labels);
    assert.ok(got.kind === 'known' && got.queue.jobs === 1);
    const looked = new Set(
      github.requests.flatMap((request) => /repos\/acme\/([\w-]+)\/actions\/runs\?/.exec(request)?.[1] ?? []),
    );
    assert.equal(looked.size, maxRepositories);
    assert.ok(looked.has('repo-120'));
  });

  test('a deleted repository does not hide the others', async () => {
    const { github, service } = createHarness(installation(['app', 'site']));
    github.queueJob({ repository: 'acme/site', labels });
    const gone = { status: 404, body: { message: 'Not Found' } };
    github.faults.calls.push({ match: /repos.acme.app.actions.runs$/, times: 2, with: gone });
    const got = await service().queue(labels);
    assert.ok(got.kind === 'known' && got.queue.jobs === 1);
    github.faults.calls.push({ match: /repos.acme.app.actions.runs$/, times: 2, with: gone });
    const alone = await service({ owner: repository }).queue(labels);
    assert.ok(alone.kind === 'problem' && alone.reason === 'Denied');
  });

  test('a deleted run does not hide the others, and the oldest of many runs are read', async () => {
    const { github, clock, service } = createHarness();
    const since = clock.now();
    for (let at = 0; at < 60; at += 1) {
      github.queueJob({ repository: 'acme/app', labels });
      clock.advance(1000);
    }
    const all = await service().queue(labels);
    assert.deepEqual(all, { kind: 'known', queue: { jobs: maxRuns, oldestSince: since } });
    const gone = { status: 404, body: { message: 'Not Found' } };
    github.faults.calls.push({ match: /runs.\d+.jobs/, times: 1, with: gone });
    const others = await service().queue(labels);
    assert.ok(others.kind === 'known' && others.queue.jobs === maxRuns - 1);
  });

  test('a failure in the middle yields a problem, not a count', async () => {
    const { github, service } = createHarness();
    github.queueJob({ repository: 'acme/app', labels });
    github.faults.calls.push({ match: /runs.\d+.jobs/, times: 1, with: { status: 502 } });
    const got = await service().queue(labels);
    assert.ok(got.kind === 'problem' && got.reason === 'Unavailable');
  });
});
