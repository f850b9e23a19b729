import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '@tartan/kube/testing';
import { createHarness, type GitHubHarness } from '../testing/harness.ts';
import { runFakeRunner } from './fake-runner.ts';

const job = { repository: 'acme/app', labels: ['macos'] };
const minute = 60_000;

/** Lets virtual time pass in steps, so that waiting code runs in between. */
const pass = async (clock: GitHubHarness['clock'], minutes: number): Promise<void> => {
  for (let step = 0; step < minutes * 4; step += 1) {
    clock.advance(minute / 4);
    await settle();
  }
};

const play = (on: GitHubHarness, config: string, work = Promise.withResolvers<string>()) => {
  const kill = new AbortController();
  const ended = runFakeRunner({
    url: 'https://github.invalid',
    fetch: on.github.fetch,
    clock: on.clock,
    as: { jit_config: config },
    work: () => work.promise,
    signal: kill.signal,
  });
  return { ended, kill, finish: work.resolve };
};

describe('the fake runner', () => {
  test('runs one job of any length, and exits', async () => {
    const on = await createHarness();
    const runner = play(on, (await on.jit('a')).config);
    await pass(on.clock, 5);
    const queued = on.github.queueJob(job);
    await pass(on.clock, 30);
    assert.equal(queued.status, 'in_progress');
    runner.finish('failure');
    assert.equal(await runner.ended, 'job done');
    assert.deepEqual([queued.conclusion, on.github.runners(), on.github.lostJobs()], ['failure', [], []]);
  });

  test('retries while GitHub is unavailable', async () => {
    const on = await createHarness();
    const { config } = await on.jit('a');
    on.github.faults.outage.actions = 'refused';
    const runner = play(on, config);
    await pass(on.clock, 2);
    assert.equal(on.github.runners()[0]?.isOnline, false);
    on.github.faults.outage.actions = undefined;
    const queued = on.github.queueJob(job);
    await pass(on.clock, 1);
    on.github.faults.outage.actions = 503;
    await pass(on.clock, 8);
    on.github.faults.outage.actions = undefined;
    await pass(on.clock, 1);
    runner.finish('success');
    assert.equal(await runner.ended, 'job done');
    assert.deepEqual([queued.conclusion, on.github.lostJobs()], ['success', []]);
  });

  test('loses its job if its VM is killed', async () => {
    const on = await createHarness();
    const runner = play(on, (await on.jit('a')).config);
    const queued = on.github.queueJob(job);
    await pass(on.clock, 1);
    runner.kill.abort();
    runner.finish('success');
    assert.equal(await runner.ended, 'killed');
    await pass(on.clock, 11);
    assert.deepEqual(on.github.lostJobs(), [queued]);
  });

  test('exits when its registration is gone', async () => {
    const on = await createHarness();
    const { id, config } = await on.jit('a');
    const runner = play(on, config);
    await settle();
    await on.ask(`DELETE /orgs/acme/actions/runners/${id}`);
    assert.equal(await runner.ended, 'not registered');
    assert.equal(await play(on, config).ended, 'not registered');
  });
});
