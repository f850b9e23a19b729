import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { countsOf, createHarness, namesOf, reasonOf } from './testing/harness.ts';

const minute = 60;

const warm = async (t: { after(run: () => Promise<void>): void }, replicas: number) => {
  const harness = await createHarness();
  t.after(() => harness.end());
  await harness.addSecret();
  await harness.addPool(replicas);
  await harness.start();
  await harness.advance(40, 10);
  return harness;
};

describe('when GitHub fails', () => {
  test('a lost response to a registration leaves one runner', async (t) => {
    const harness = await createHarness();
    t.after(() => harness.end());
    await harness.addSecret();
    harness.github.faults.calls.push({ match: /generate-jitconfig/, times: 2, with: 'lost' });
    await harness.addPool(2);
    await harness.start();
    await harness.advance(2 * minute, 10);
    assert.deepEqual(await countsOf(harness), { replicas: 2, warm: 2, busy: 0, retiring: 0, stale: 0 });
    const names = harness.github.runners().map(({ name }) => name);
    assert.deepEqual(names.sort(), await namesOf(harness));
  });

  test('an outage of an hour deletes no runner and creates no duplicate', async (t) => {
    const harness = await warm(t, 3);
    const job = harness.queueJob();
    await harness.advance(10);
    harness.github.faults.outage.api = 'refused';
    const before = await namesOf(harness);
    await harness.setSpec({ replicas: 2, image: 'macos:2' });
    await harness.advance(2 * minute, 20);
    assert.deepEqual(await namesOf(harness), before, 'nobody can be asked');
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Unavailable');
    const asked = harness.github.requests.length;
    await harness.advance(58 * minute, 60);
    assert.equal(job.conclusion, 'success');
    const made = (await namesOf(harness)).length;
    assert.equal(made, 2, 'who has ended is taken away, and replaced as far as wanted');
    assert.equal((await harness.secrets()).length, 2);
    assert.ok(harness.github.requests.length - asked < 200, 'it is asked now and then');
    harness.github.faults.outage.api = undefined;
    await harness.advance(6 * minute, 10);
    assert.deepEqual(await countsOf(harness), { replicas: 2, warm: 2, busy: 0, retiring: 0, stale: 0 });
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Reachable');
    assert.deepEqual([harness.killed, harness.github.lostJobs()], [[], []]);
  });

  test('no request is sent until the rate limit resets', async (t) => {
    const harness = await warm(t, 1);
    harness.github.faults.calls.push({ match: /generate-jitconfig/, times: 1, with: { limit: 'primary' } });
    await harness.setSpec({ replicas: 2 });
    await harness.advance(30, 10);
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'RateLimited');
    assert.equal((await namesOf(harness)).length, 2);
    const asked = harness.github.requests.filter((each) => !each.includes('_actions')).length;
    await harness.advance(10 * minute, 60);
    assert.equal(harness.github.requests.filter((each) => !each.includes('_actions')).length, asked);
    assert.equal((await namesOf(harness)).length, 2);
    await harness.advance(51 * minute, 60);
    await harness.advance(2 * minute, 10);
    assert.equal((await countsOf(harness)).warm, 2);
  });

  test('a denied read of queue or runners does not stop registrations', async (t) => {
    const harness = await warm(t, 1);
    harness.github.faults.calls.push({ match: /GET .*(repos|runners)(\?|$|.*runs)/, times: 50, with: { status: 503 } });
    await harness.advance(6 * minute, 20);
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Reachable');
    await harness.setSpec({ replicas: 2 });
    await harness.advance(40, 10);
    assert.equal((await countsOf(harness)).warm, 2);
  });

  for (const guest of ['silent', 'offline'] as const) {
    test(`a guest whose runner never connects frees its slot (${guest})`, async (t) => {
      const harness = await createHarness();
      t.after(() => harness.end());
      await harness.addSecret();
      harness.settings.guest = guest;
      await harness.addPool(1);
      let freed = 0;
      await harness.start(undefined, undefined, { poolMetrics: { unreachable: () => (freed += 1) } });
      await harness.advance(minute, 10);
      const [dead] = await namesOf(harness);
      harness.settings.guest = 'healthy';
      await harness.advance(8 * minute, 20);
      assert.deepEqual([await namesOf(harness), freed], [[dead], 0]);
      await harness.advance(14 * minute, 20);
      assert.notDeepEqual(await namesOf(harness), [dead]);
      assert.equal(freed, 1);
      assert.deepEqual(await countsOf(harness), { replicas: 1, warm: 1, busy: 0, retiring: 0, stale: 0 });
    });
  }

  test('a missing Secret of the App is reported until it exists', async (t) => {
    const harness = await createHarness();
    t.after(() => harness.end());
    await harness.addPool(1);
    await harness.start();
    await harness.advance(30, 10);
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'AppSecretInvalid');
    assert.deepEqual([(await namesOf(harness)).length, await harness.secrets()], [1, []]);
    await harness.addSecret();
    await harness.advance(2 * minute, 10);
    assert.equal((await countsOf(harness)).warm, 1);
  });

  test('the job of a busy runner that GitHub reports as idle and removes continues', async (t) => {
    const harness = await warm(t, 1);
    harness.settings.notices = false;
    harness.github.faults.staleBusyFor = 60_000;
    harness.github.faults.deleteWhileStale = 'accepted';
    // GitHub assigns it right after it has answered that the runner is idle, so the guest has not reported it yet.
    harness.github.faults.jobsAfterIdle.push({ repository: 'acme/app', labels: ['macOS'] });
    await harness.setSpec({ replicas: 0 });
    await harness.advance(20);
    const [job] = harness.github.jobs();
    assert.equal(job?.status, 'in_progress');
    assert.equal(harness.github.runners().length, 0, 'GitHub has forgotten it');
    await harness.advance(2.5 * minute, 10);
    assert.equal((await namesOf(harness)).length, 1);
    await harness.advance(2 * minute, 10);
    assert.equal(job?.conclusion, 'success');
    assert.deepEqual([await namesOf(harness), harness.killed, harness.github.lostJobs()], [[], [], []]);
  });

  test('the sweep removes only runners without a Pod', async (t) => {
    const harness = await warm(t, 1);
    const mint = (name: string) => harness.service().mint({ name, labels: ['x'], group: undefined });
    for (const name of ['macos-runner-0000dead', 'macos-runner-x-runner-0000dead', 'other-runner-0000dead'])
      await mint(name);
    await harness.advance(10 * minute, 60);
    assert.equal(harness.github.runners().length, 4, 'it may be one that is about to boot, of somebody else');
    await harness.advance(12 * minute, 60);
    assert.deepEqual(
      harness.github
        .runners()
        .map(({ name }) => name)
        .sort(),
      ['macos-runner-00000001', 'macos-runner-x-runner-0000dead', 'other-runner-0000dead'],
    );
  });

  test('an outdated runner version is reported weeks before GitHub refuses it', async (t) => {
    const clock = manualClock();
    const day = 24 * 60 * minute;
    const harness = await createHarness({
      clock,
      runnerReleases: [
        { version: '2.334.0', publishedAt: clock.now() - day * 1000 },
        { version: '2.335.0', publishedAt: clock.now() + minute * 10 * 1000 },
      ],
    });
    t.after(() => harness.end());
    await harness.addSecret();
    harness.settings.version = '2.334.0';
    await harness.addPool(1);
    await harness.start();
    await harness.advance(6 * minute, 10);
    assert.equal(await reasonOf(harness, 'RunnerOutdated'), 'UpToDate');
    await harness.advance(11 * minute, 20);
    assert.equal(await reasonOf(harness, 'RunnerOutdated'), 'UpdateDue');
    assert.equal((await countsOf(harness)).warm, 1);
    clock.advance(30 * day * 1000);
    await harness.advance(minute, 10);
    assert.equal(await reasonOf(harness, 'RunnerOutdated'), 'Refused');
    const job = harness.queueJob();
    await harness.advance(5 * minute, 10);
    assert.equal(job.status, 'queued', 'GitHub gives it to nobody');
    harness.settings.version = '2.335.0';
    await harness.setSpec({ image: 'macos:2' });
    await harness.advance(10 * minute, 10);
    assert.equal(await reasonOf(harness, 'RunnerOutdated'), 'UpToDate');
    assert.equal(job.conclusion, 'success');
  });

  test('waiting jobs are reported', async (t) => {
    const harness = await warm(t, 1);
    harness.queueJob();
    await harness.advance(10);
    harness.queueJob();
    await harness.advance(minute, 10);
    const { queue } = (await harness.pool())?.status ?? {};
    assert.equal(queue?.jobs, 1);
    assert.equal(await reasonOf(harness, 'JobsWaiting'), 'Saturated');
    await harness.advance(8 * minute, 20);
    assert.equal(await reasonOf(harness, 'JobsWaiting'), 'NoneWaiting');
  });
});
