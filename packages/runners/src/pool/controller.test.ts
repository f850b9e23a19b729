import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runnerPool } from '@tartan/api';
import { countsOf, createHarness, type Harness, namesOf, namespace, reasonOf } from './testing/harness.ts';

const on = async (t: { after(run: () => Promise<void>): void }, options?: Parameters<typeof createHarness>[0]) => {
  const harness = await createHarness(options);
  t.after(() => harness.end());
  await harness.addSecret();
  return harness;
};
const warm = async (t: Parameters<typeof on>[0], replicas: number, options?: Parameters<typeof on>[1]) => {
  const harness = await on(t, options);
  await harness.addPool(replicas);
  await harness.start();
  await harness.advance(40, 10);
  return harness;
};
/** The name of a runner with a job that its agent has reported. */
const withJob = async (harness: Harness): Promise<string> => {
  const job = harness.queueJob();
  await harness.advance(10);
  return job.runner?.name ?? '';
};

describe('a pool of runners', () => {
  test('creates and registers Pods until the pool is warm', async (t) => {
    const harness = await warm(t, 3);
    assert.deepEqual(harness.errors, []);
    assert.equal(await reasonOf(harness, 'Ready'), 'Converged');
    assert.equal(await reasonOf(harness, 'GitHubReachable'), 'Reachable');
    assert.deepEqual(await countsOf(harness), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
    assert.deepEqual([harness.github.runners().length, (await harness.secrets()).length], [3, 3]);
    assert.equal((await harness.accounts()).length, 3);
  });

  test('is forgotten when it is deleted, also while another process leads', async (t) => {
    const harness = await on(t);
    await harness.addPool(0, 'one');
    await harness.addPool(0, 'two');
    const forgotten: string[] = [];
    const metrics = { forget: ({ name }: { name: string }) => void forgotten.push(name) };
    const started = await harness.start(undefined, undefined, { poolMetrics: metrics });
    await harness.advance(20, 10);
    // Without our finalizer, as another leader has removed it.
    const free = (name: string) =>
      harness.client.patch(
        runnerPool.resource,
        { namespace, name },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      );
    await harness.deletePool('one');
    await harness.advance(20, 10);
    assert.deepEqual(new Set(forgotten.splice(0)), new Set(['one']));
    await started.stopLeading();
    await free('two');
    await harness.deletePool('two');
    await harness.advance(20, 10);
    assert.deepEqual(forgotten, []);
    started.leadAgain();
    await harness.advance(20, 10);
    assert.deepEqual(new Set(forgotten), new Set(['two']));
  });

  test('a finished Pod is recorded, deleted and replaced', async (t) => {
    const harness = await warm(t, 2);
    const job = harness.queueJob();
    await harness.advance(30);
    assert.equal((await countsOf(harness)).busy, 1);
    await harness.advance(240, 10);
    assert.equal(job.conclusion, 'success');
    const status = (await harness.pool())?.status;
    assert.deepEqual([status?.replicas, status?.warm, status?.reaped], [2, 2, 1]);
    const [finished] = status?.finished ?? [];
    assert.deepEqual([finished?.name, finished?.hadJob, finished?.exitCode], [job.runner?.name, true, 0]);
    assert.ok(finished?.startedAt && finished.finishedAt);
    assert.ok(harness.eventReasons.includes('RunnerPodFinished'));
    assert.deepEqual([(await harness.secrets()).length, (await harness.accounts()).length], [2, 2]);
    assert.equal(harness.github.runners().length, 2);
  });

  test('a status write triggers no reconcile', async (t) => {
    const harness = await warm(t, 1);
    const { metadata } = (await harness.pool()) ?? {};
    await harness.advance(180, 30);
    assert.equal((await harness.pool())?.metadata.resourceVersion, metadata?.resourceVersion);
  });

  test('scales down the least useful Pods first, and waits for running jobs', async (t) => {
    const harness = await warm(t, 2, { macs: 1, slots: 2 });
    const busy = await withJob(harness);
    await harness.setSpec({ replicas: 3 });
    await harness.advance(10);
    assert.equal((await namesOf(harness)).length, 3, 'one waits for room');
    await harness.setSpec({ replicas: 2 });
    await harness.advance(10);
    assert.deepEqual(await namesOf(harness), ['macos-runner-00000001', 'macos-runner-00000002']);
    await harness.setSpec({ replicas: 0 });
    await harness.advance(60, 10);
    assert.deepEqual(await namesOf(harness), [busy]);
    assert.equal(await reasonOf(harness, 'Ready'), 'Draining');
    await harness.advance(240, 20);
    assert.deepEqual([await namesOf(harness), harness.killed, harness.github.lostJobs()], [[], [], []]);
    assert.deepEqual(await harness.accounts(), []);
  });

  test('rolls a new image within its cap, and lets jobs finish', async (t) => {
    const harness = await warm(t, 4);
    const busy = await withJob(harness);
    await harness.setSpec({ image: 'macos:2' });
    for (let step = 0; step < 12; step += 1) {
      await harness.advance(10);
      const { warm: idle = 0, busy: working = 0 } = await countsOf(harness);
      assert.ok(idle + working >= 3, `${idle} wait and ${working} work: more than one is away`);
    }
    assert.deepEqual((await countsOf(harness)).stale, 1);
    assert.ok((await namesOf(harness)).includes(busy));
    await harness.advance(180, 20);
    assert.deepEqual(await countsOf(harness), { replicas: 4, warm: 4, busy: 0, retiring: 0, stale: 0 });
    assert.deepEqual([harness.killed, harness.github.lostJobs()], [[], []]);
    assert.equal((await harness.pool())?.status?.observedImage, 'macos:2');
  });

  test('drains a cordoned Node, except for running jobs', async (t) => {
    const harness = await warm(t, 2, { macs: 2, slots: 2 });
    const [first] = harness.macs;
    assert.ok(first);
    const busy = await withJob(harness);
    await harness.cordon(first);
    await harness.advance(60, 10);
    const left = (await harness.pods()).filter(({ spec }) => spec?.nodeName === first.name);
    assert.deepEqual(
      left.map(({ metadata }) => metadata.name),
      [busy],
    );
    assert.equal((await namesOf(harness)).length, 2, 'the other one is replaced elsewhere');
    assert.ok(harness.eventReasons.includes('RunnerPodRetiredForNodeDrain'));
    await harness.advance(180, 20);
    assert.deepEqual(harness.killed, []);
    assert.ok((await harness.pods()).every(({ spec }) => spec?.nodeName === 'mac-2'));
  });

  test('is deleted after its last job has finished', async (t) => {
    const harness = await warm(t, 2);
    const busy = await withJob(harness);
    await harness.deletePool();
    await harness.advance(60, 10);
    assert.deepEqual(await namesOf(harness), [busy]);
    assert.equal(await reasonOf(harness, 'Ready'), 'Deleting');
    await harness.advance(200, 20);
    assert.equal(await harness.pool(), undefined);
    assert.deepEqual([await namesOf(harness), await harness.accounts(), await harness.secrets()], [[], [], []]);
    assert.deepEqual([harness.github.runners(), harness.killed, harness.github.lostJobs()], [[], [], []]);
  });

  test('removes only the Pods whose Node is gone', async (t) => {
    const harness = await warm(t, 3);
    const [first] = harness.macs;
    assert.ok(first);
    await first.setSilent(true);
    await harness.advance(300, 30);
    assert.equal((await namesOf(harness)).includes('macos-runner-00000001'), true, 'silence proves nothing');
    await harness.removeMac(first);
    await harness.addMac();
    await harness.advance(60, 10);
    assert.ok(harness.eventReasons.includes('RunnerPodLost'));
    assert.deepEqual(await countsOf(harness), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
    assert.ok((await harness.pods()).every(({ spec }) => spec?.nodeName !== first.name));
  });

  test('has a name short enough for the names of its runners', async (t) => {
    const harness = await on(t);
    await harness.addPool(0, 'a'.repeat(47));
    await assert.rejects(harness.addPool(0, 'a'.repeat(48)), /47/);
  });

  test('is not changed by a process that does not lead', async (t) => {
    const harness = await on(t);
    await harness.addPool(1);
    const gate = (): void => {
      throw new Error('not leading');
    };
    await harness.start(undefined, undefined, { gate });
    await harness.advance(20);
    assert.deepEqual([await harness.pods(), await harness.accounts(), harness.github.runners()], [[], [], []]);
    const pool = await harness.client.get(runnerPool.resource, { namespace, name: 'macos' });
    assert.deepEqual(pool.metadata.finalizers, undefined);
  });
});
