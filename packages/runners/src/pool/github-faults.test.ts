import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { countsOf, createHarness, namesOf, reasonOf } from './testing/harness.ts';

const minute = 60;

const warm = async (t: { after(run: () => Promise<void>): void }, replicas: number) => {
  const stage = await createHarness();
  t.after(() => stage.end());
  await stage.addSecret();
  await stage.addPool(replicas);
  await stage.start();
  await stage.advance(40, 10);
  return stage;
};

describe('when GitHub fails', () => {
  test('a lost response to a registration leaves one runner', async (t) => {
    const stage = await createHarness();
    t.after(() => stage.end());
    await stage.addSecret();
    stage.github.faults.calls.push({ match: /generate-jitconfig/, times: 2, with: 'lost' });
    await stage.addPool(2);
    await stage.start();
    await stage.advance(2 * minute, 10);
    assert.deepEqual(await countsOf(stage), { replicas: 2, warm: 2, busy: 0, retiring: 0, stale: 0 });
    const names = stage.github.runners().map(({ name }) => name);
    assert.deepEqual(names.sort(), await namesOf(stage));
  });

  test('an outage of an hour deletes no runner and creates no duplicate', async (t) => {
    const stage = await warm(t, 3);
    const job = stage.queueJob();
    await stage.advance(10);
    stage.github.faults.outage.api = 'refused';
    const before = await namesOf(stage);
    await stage.setSpec({ replicas: 2, image: 'macos:2' });
    await stage.advance(2 * minute, 20);
    assert.deepEqual(await namesOf(stage), before, 'nobody can be asked');
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'Unavailable');
    const asked = stage.github.requests.length;
    await stage.advance(58 * minute, 60);
    assert.equal(job.conclusion, 'success');
    const made = (await namesOf(stage)).length;
    assert.equal(made, 2, 'who has ended is taken away, and replaced as far as wanted');
    assert.equal((await stage.secrets()).length, 2);
    assert.ok(stage.github.requests.length - asked < 200, 'it is asked now and then');
    stage.github.faults.outage.api = undefined;
    await stage.advance(6 * minute, 10);
    assert.deepEqual(await countsOf(stage), { replicas: 2, warm: 2, busy: 0, retiring: 0, stale: 0 });
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'Reachable');
    assert.deepEqual([stage.killed, stage.github.lostJobs()], [[], []]);
  });

  test('no request is sent until the rate limit resets', async (t) => {
    const stage = await warm(t, 1);
    stage.github.faults.calls.push({ match: /generate-jitconfig/, times: 1, with: { limit: 'primary' } });
    await stage.setSpec({ replicas: 2 });
    await stage.advance(30, 10);
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'RateLimited');
    assert.equal((await namesOf(stage)).length, 2);
    const asked = stage.github.requests.filter((each) => !each.includes('_actions')).length;
    await stage.advance(10 * minute, 60);
    assert.equal(stage.github.requests.filter((each) => !each.includes('_actions')).length, asked);
    assert.equal((await namesOf(stage)).length, 2);
    await stage.advance(51 * minute, 60);
    await stage.advance(2 * minute, 10);
    assert.equal((await countsOf(stage)).warm, 2);
  });

  test('a denied read of queue or runners does not stop registrations', async (t) => {
    const stage = await warm(t, 1);
    stage.github.faults.calls.push({ match: /GET .*(repos|runners)(\?|$|.*runs)/, times: 50, with: { status: 503 } });
    await stage.advance(6 * minute, 20);
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'Reachable');
    await stage.setSpec({ replicas: 2 });
    await stage.advance(40, 10);
    assert.equal((await countsOf(stage)).warm, 2);
  });

  for (const guest of ['silent', 'offline'] as const) {
    test(`a guest whose runner never connects frees its slot (${guest})`, async (t) => {
      const stage = await createHarness();
      t.after(() => stage.end());
      await stage.addSecret();
      stage.settings.guest = guest;
      await stage.addPool(1);
      let freed = 0;
      await stage.start(undefined, undefined, { poolMetrics: { unreachable: () => (freed += 1) } });
      await stage.advance(minute, 10);
      const [dead] = await namesOf(stage);
      stage.settings.guest = 'healthy';
      await stage.advance(8 * minute, 20);
      assert.deepEqual([await namesOf(stage), freed], [[dead], 0]);
      await stage.advance(14 * minute, 20);
      assert.notDeepEqual(await namesOf(stage), [dead]);
      assert.equal(freed, 1);
      assert.deepEqual(await countsOf(stage), { replicas: 1, warm: 1, busy: 0, retiring: 0, stale: 0 });
    });
  }

  test('the Secret of the App is missing, and then there', async (t) => {
    const stage = await createHarness();
    t.after(() => stage.end());
    await stage.addPool(1);
    await stage.start();
    await stage.advance(30, 10);
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'AppSecretInvalid');
    assert.deepEqual([(await namesOf(stage)).length, await stage.secrets()], [1, []]);
    await stage.addSecret();
    await stage.advance(2 * minute, 10);
    assert.equal((await countsOf(stage)).warm, 1);
  });

  test('a busy runner is shown as idle, and its removal accepted: its job goes on', async (t) => {
    const stage = await warm(t, 1);
    stage.settings.notices = false;
    stage.github.faults.staleBusyFor = 60_000;
    stage.github.faults.deleteWhileStale = 'accepted';
    // GitHub assigns it right after it has answered that the runner is idle, so the guest has not reported it yet.
    stage.github.faults.jobsAfterIdle.push({ repository: 'acme/app', labels: ['macOS'] });
    await stage.setSpec({ replicas: 0 });
    await stage.advance(20);
    const [job] = stage.github.jobs();
    assert.equal(job?.status, 'in_progress');
    assert.equal(stage.github.runners().length, 0, 'GitHub has forgotten it');
    await stage.advance(2.5 * minute, 10);
    assert.equal((await namesOf(stage)).length, 1);
    await stage.advance(2 * minute, 10);
    assert.equal(job?.conclusion, 'success');
    assert.deepEqual([await namesOf(stage), stage.killed, stage.github.lostJobs()], [[], [], []]);
  });

  test('the sweep removes only runners without a Pod', async (t) => {
    const stage = await warm(t, 1);
    const mint = (name: string) => stage.service().mint({ name, labels: ['x'], group: undefined });
    for (const name of ['macos-runner-0000dead', 'macos-runner-x-runner-0000dead', 'other-runner-0000dead'])
      await mint(name);
    await stage.advance(10 * minute, 60);
    assert.equal(stage.github.runners().length, 4, 'it may be one that is about to boot, of somebody else');
    await stage.advance(12 * minute, 60);
    assert.deepEqual(
      stage.github
        .runners()
        .map(({ name }) => name)
        .sort(),
      ['macos-runner-00000001', 'macos-runner-x-runner-0000dead', 'other-runner-0000dead'],
    );
  });

  test('an outdated runner version is reported weeks before GitHub refuses it', async (t) => {
    const clock = manualClock();
    const day = 24 * 60 * minute;
    const stage = await createHarness({
      clock,
      runnerReleases: [
        { version: '2.334.0', publishedAt: clock.now() - day * 1000 },
        { version: '2.335.0', publishedAt: clock.now() + minute * 10 * 1000 },
      ],
    });
    t.after(() => stage.end());
    await stage.addSecret();
    stage.settings.version = '2.334.0';
    await stage.addPool(1);
    await stage.start();
    await stage.advance(6 * minute, 10);
    assert.equal(await reasonOf(stage, 'RunnerOutdated'), 'UpToDate');
    await stage.advance(11 * minute, 20);
    assert.equal(await reasonOf(stage, 'RunnerOutdated'), 'UpdateDue');
    assert.equal((await countsOf(stage)).warm, 1);
    clock.advance(30 * day * 1000);
    await stage.advance(minute, 10);
    assert.equal(await reasonOf(stage, 'RunnerOutdated'), 'Refused');
    const job = stage.queueJob();
    await stage.advance(5 * minute, 10);
    assert.equal(job.status, 'queued', 'GitHub gives it to nobody');
    stage.settings.version = '2.335.0';
    await stage.setSpec({ image: 'macos:2' });
    await stage.advance(10 * minute, 10);
    assert.equal(await reasonOf(stage, 'RunnerOutdated'), 'UpToDate');
    assert.equal(job.conclusion, 'success');
  });

  test('waiting jobs are reported', async (t) => {
    const stage = await warm(t, 1);
    stage.queueJob();
    await stage.advance(10);
    stage.queueJob();
    await stage.advance(minute, 10);
    const { queue } = (await stage.pool())?.status ?? {};
    assert.equal(queue?.jobs, 1);
    assert.equal(await reasonOf(stage, 'JobsWaiting'), 'Saturated');
    await stage.advance(8 * minute, 20);
    assert.equal(await reasonOf(stage, 'JobsWaiting'), 'NoneWaiting');
  });
});
