import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runnerPool } from '@tartan/api';
import { countsOf, createHarness, type Harness, namesOf, namespace, reasonOf } from './testing/harness.ts';

const on = async (t: { after(run: () => Promise<void>): void }, options?: Parameters<typeof createHarness>[0]) => {
  const stage = await createHarness(options);
  t.after(() => stage.end());
  await stage.addSecret();
  return stage;
};
const warm = async (t: Parameters<typeof on>[0], replicas: number, options?: Parameters<typeof on>[1]) => {
  const stage = await on(t, options);
  await stage.addPool(replicas);
  await stage.start();
  await stage.advance(40, 10);
  return stage;
};
/** The name of a runner with a job that its agent has reported. */
const withJob = async (stage: Harness): Promise<string> => {
  const job = stage.queueJob();
  await stage.advance(10);
  return job.runner?.name ?? '';
};

describe('a pool of runners', () => {
  test('creates and registers Pods until the pool is warm', async (t) => {
    const stage = await warm(t, 3);
    assert.deepEqual(stage.errors, []);
    assert.equal(await reasonOf(stage, 'Ready'), 'Converged');
    assert.equal(await reasonOf(stage, 'GitHubReachable'), 'Reachable');
    assert.deepEqual(await countsOf(stage), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
    assert.deepEqual([stage.github.runners().length, (await stage.secrets()).length], [3, 3]);
    assert.equal((await stage.accounts()).length, 3);
  });

  test('a finished Pod is recorded, deleted and replaced', async (t) => {
    const stage = await warm(t, 2);
    const job = stage.queueJob();
    await stage.advance(30);
    assert.equal((await countsOf(stage)).busy, 1);
    await stage.advance(240, 10);
    assert.equal(job.conclusion, 'success');
    const status = (await stage.pool())?.status;
    assert.deepEqual([status?.replicas, status?.warm, status?.reaped], [2, 2, 1]);
    const [finished] = status?.finished ?? [];
    assert.deepEqual([finished?.name, finished?.hadJob, finished?.exitCode], [job.runner?.name, true, 0]);
    assert.ok(finished?.startedAt && finished.finishedAt);
    assert.ok(stage.told.includes('RunnerPodFinished'));
    assert.deepEqual([(await stage.secrets()).length, (await stage.accounts()).length], [2, 2]);
    assert.equal(stage.github.runners().length, 2);
  });

  test('a status write triggers no reconcile', async (t) => {
    const stage = await warm(t, 1);
    const { metadata } = (await stage.pool()) ?? {};
    await stage.advance(180, 30);
    assert.equal((await stage.pool())?.metadata.resourceVersion, metadata?.resourceVersion);
  });

  test('scales down the least useful Pods first, and waits for running jobs', async (t) => {
    const stage = await warm(t, 2, { macs: 1, slots: 2 });
    const busy = await withJob(stage);
    await stage.setSpec({ replicas: 3 });
    await stage.advance(10);
    assert.equal((await namesOf(stage)).length, 3, 'one waits for room');
    await stage.setSpec({ replicas: 2 });
    await stage.advance(10);
    assert.deepEqual(await namesOf(stage), ['macos-runner-00000001', 'macos-runner-00000002']);
    await stage.setSpec({ replicas: 0 });
    await stage.advance(60, 10);
    assert.deepEqual(await namesOf(stage), [busy]);
    assert.equal(await reasonOf(stage, 'Ready'), 'Draining');
    await stage.advance(240, 20);
    assert.deepEqual([await namesOf(stage), stage.killed, stage.github.lostJobs()], [[], [], []]);
    assert.deepEqual(await stage.accounts(), []);
  });

  test('rolls a new image within its cap, and lets jobs finish', async (t) => {
    const stage = await warm(t, 4);
    const busy = await withJob(stage);
    await stage.setSpec({ image: 'macos:2' });
    for (let step = 0; step < 12; step += 1) {
      await stage.advance(10);
      const { warm: idle = 0, busy: working = 0 } = await countsOf(stage);
      assert.ok(idle + working >= 3, `${idle} wait and ${working} work: more than one is away`);
    }
    assert.deepEqual((await countsOf(stage)).stale, 1);
    assert.ok((await namesOf(stage)).includes(busy));
    await stage.advance(180, 20);
    assert.deepEqual(await countsOf(stage), { replicas: 4, warm: 4, busy: 0, retiring: 0, stale: 0 });
    assert.deepEqual([stage.killed, stage.github.lostJobs()], [[], []]);
    assert.equal((await stage.pool())?.status?.observedImage, 'macos:2');
  });

  test('drains a cordoned Node, except for running jobs', async (t) => {
    const stage = await warm(t, 2, { macs: 2, slots: 2 });
    const [first] = stage.macs;
    assert.ok(first);
    const busy = await withJob(stage);
    await stage.cordon(first);
    await stage.advance(60, 10);
    const left = (await stage.pods()).filter(({ spec }) => spec?.nodeName === first.name);
    assert.deepEqual(
      left.map(({ metadata }) => metadata.name),
      [busy],
    );
    assert.equal((await namesOf(stage)).length, 2, 'the other one is replaced elsewhere');
    assert.ok(stage.told.includes('RunnerPodRetiredForNodeDrain'));
    await stage.advance(180, 20);
    assert.deepEqual(stage.killed, []);
    assert.ok((await stage.pods()).every(({ spec }) => spec?.nodeName === 'mac-2'));
  });

  test('is deleted after its last job has finished', async (t) => {
    const stage = await warm(t, 2);
    const busy = await withJob(stage);
    await stage.deletePool();
    await stage.advance(60, 10);
    assert.deepEqual(await namesOf(stage), [busy]);
    assert.equal(await reasonOf(stage, 'Ready'), 'Deleting');
    await stage.advance(200, 20);
    assert.equal(await stage.pool(), undefined);
    assert.deepEqual([await namesOf(stage), await stage.accounts(), await stage.secrets()], [[], [], []]);
    assert.deepEqual([stage.github.runners(), stage.killed, stage.github.lostJobs()], [[], [], []]);
  });

  test('removes only the Pods whose Node is gone', async (t) => {
    const stage = await warm(t, 3);
    const [first] = stage.macs;
    assert.ok(first);
    await first.setSilent(true);
    await stage.advance(300, 30);
    assert.equal((await namesOf(stage)).includes('macos-runner-00000001'), true, 'silence proves nothing');
    await stage.removeMac(first);
    await stage.addMac();
    await stage.advance(60, 10);
    assert.ok(stage.told.includes('RunnerPodLost'));
    assert.deepEqual(await countsOf(stage), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
    assert.ok((await stage.pods()).every(({ spec }) => spec?.nodeName !== first.name));
  });

  test('has a name that leaves room for those of its runners', async (t) => {
    const stage = await on(t);
    await stage.addPool(0, 'a'.repeat(47));
    await assert.rejects(stage.addPool(0, 'a'.repeat(48)), /47/);
  });

  test('nothing is done by a process that does not lead', async (t) => {
    const stage = await on(t);
    await stage.addPool(1);
    const gate = (): void => {
      throw new Error('not leading');
    };
    await stage.start(undefined, undefined, { gate });
    await stage.advance(20);
    assert.deepEqual([await stage.pods(), await stage.accounts(), stage.github.runners()], [[], [], []]);
    const pool = await stage.client.get(runnerPool.resource, { namespace, name: 'macos' });
    assert.deepEqual(pool.metadata.finalizers, undefined);
  });
});
