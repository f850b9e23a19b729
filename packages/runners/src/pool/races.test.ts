import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finalizers, runnerBusyCondition } from '@tartan/api';
import { KubeError, pods, serviceAccounts, type Transport } from '@tartan/kube';
import { podOf } from './pod-template.ts';
import { countsOf, createHarness, namesOf, namespace, reasonOf } from './testing/harness.ts';

type Send = Transport['send'];

const on = async (t: { after(run: () => Promise<void>): void }, replicas: number) => {
  const harness = await createHarness({ macs: 1, slots: 8 });
  t.after(() => harness.end());
  await harness.addSecret();
  await harness.addPool(replicas);
  return harness;
};
const isWatchOf = (plural: string, path: string): boolean => path.includes(`/${plural}?`) && path.includes('watch=');
/** An open watch that delivers nothing from some time on. */
const deaf =
  (plural: string, isDeaf: () => boolean) =>
  (send: Send): Send =>
  async (request) => {
    const answer = await send(request);
    if (!isWatchOf(plural, request.path)) return answer;
    const body = async function* () {
      for await (const chunk of answer.body) {
        while (isDeaf() && !request.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
        yield chunk;
      }
    };
    return { ...answer, body: body() };
  };

describe('races', () => {
  test('a job that starts between the live read and the delete keeps its Pod', async (t) => {
    const harness = await on(t, 1);
    harness.settings.notices = false;
    let raced = '';
    await harness.start((send) => async (request) => {
      if (raced === '' && request.method === 'DELETE' && request.path.includes('/pods/')) {
        raced = request.path.split('/').at(-1) ?? '';
        for (const guest of harness.macs[0]?.guests.values() ?? []) guest.state = 'works';
        const body = { status: { conditions: [{ type: runnerBusyCondition, status: 'True' }] } };
        await harness.client.patch(
          pods,
          { namespace, name: raced },
          { type: 'merge', body },
          { subresource: 'status' },
        );
      }
      return send(request);
    });
    await harness.advance(40, 10);
    await harness.setSpec({ replicas: 0 });
    await harness.advance(200, 20);
    assert.notEqual(raced, '');
    const [pod] = await harness.pods();
    assert.deepEqual([pod?.metadata.name, pod?.metadata.deletionTimestamp], [raced, undefined]);
  });

  test('a Pod with a Secret but without its annotation is annotated, not deleted', async (t) => {
    const harness = await on(t, 1);
    // The Pod never gets the annotation: each of these writes fails.
    let isFailing = true;
    await harness.start((send) => (request) => {
      if (isFailing && request.method === 'PATCH' && /\/pods\/[^/]+\?/.test(request.path))
        return Promise.reject(new KubeError('unreachable', 'the connection was cut'));
      return send(request);
    });
    await harness.advance(30, 10);
    assert.equal((await harness.secrets()).length, 1);
    isFailing = false;
    await harness.setSpec({ replicas: 0 });
    harness.github.queueJob({ repository: 'acme/app', labels: ['macOS'] });
    await harness.advance(60, 10);
    assert.deepEqual([harness.killed, (await namesOf(harness)).length], [[], 1]);
  });

  test('a stale Pod cache creates no Pod twice', async (t) => {
    const harness = await on(t, 3);
    let isDeaf = true;
    await harness.start(deaf('pods', () => isDeaf));
    await harness.advance(180, 30);
    assert.equal((await namesOf(harness)).length, 3);
    isDeaf = false;
    await harness.advance(60, 10);
    assert.deepEqual(await countsOf(harness), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
  });

  test('a stale cache retires no runner that has a job', async (t) => {
    const harness = await on(t, 1);
    let isDeaf = false;
    await harness.start(deaf('pods', () => isDeaf));
    await harness.advance(40, 10);
    isDeaf = true;
    harness.github.faults.staleBusyFor = 600_000;
    harness.github.faults.deleteWhileStale = 'accepted';
    const job = harness.github.queueJob({ repository: 'acme/app', labels: ['macOS'] });
    await harness.advance(10);
    await harness.setSpec({ replicas: 0 });
    await harness.advance(60, 10);
    assert.equal(job.status, 'in_progress');
    assert.equal(harness.github.runners().length, 1);
    isDeaf = false;
    await harness.advance(300, 20);
    assert.deepEqual([job.conclusion, harness.killed, await namesOf(harness)], ['success', [], []]);
  });

  test('a Node missing from the cache is read live before its Pod counts as lost', async (t) => {
    const harness = await on(t, 2);
    await harness.start(deaf('nodes', () => true));
    const [first] = harness.macs;
    assert.ok(first);
    await harness.cordon(first);
    await harness.addMac();
    await harness.advance(60, 10);
    assert.deepEqual(await namesOf(harness), ['macos-runner-00000001', 'macos-runner-00000002']);
    assert.equal((await countsOf(harness)).warm, 2);
    assert.deepEqual(harness.eventReasons, []);
  });

  test('504 finished Pods stuck in deletion are skipped, reported, and removed once released', async (t) => {
    const harness = await on(t, 0);
    const [mac] = harness.macs;
    const pool = await harness.pool();
    assert.ok(mac && pool);
    mac.holdBack(true);
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } } as const;
    await harness.client.create(serviceAccounts, account);
    for (let index = 0; index < 504; index += 1) {
      const name = `macos-runner-${(0xf0000000 + index).toString(16)}`;
      const pod = podOf(pool, name);
      await harness.client.create(pods, {
        ...pod,
        metadata: { ...pod.metadata, finalizers: [finalizers.vmCleanup] },
        ...(pod.spec && { spec: { ...pod.spec, nodeName: mac.name, serviceAccountName: 'default' } }),
      });
      const body = { status: { phase: 'Succeeded' } };
      await harness.client.patch(pods, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    }
    let deletes = 0;
    await harness.start((send) => (request) => {
      if (request.method === 'DELETE' && request.path.includes('/pods/')) deletes += 1;
      return send(request);
    });
    await harness.advance(30, 5);
    assert.deepEqual([deletes, (await harness.pool())?.status?.reaped], [504, 504]);
    assert.equal((await harness.pool())?.status?.finished?.length, 50);
    await harness.advance(11 * 60, 60);
    assert.equal(deletes, 504, 'those that go already are left to their agents');
    const { stuck, oldestStuckSince } = (await harness.pool())?.status ?? {};
    assert.deepEqual([stuck, oldestStuckSince !== undefined], [504, true]);
    assert.equal(await reasonOf(harness, 'Stuck'), 'PodsStuckTerminating');
    assert.equal(harness.eventReasons.filter((reason) => reason === 'RunnerPodStuck').length, 1);
    mac.holdBack(false);
    await harness.advance(20, 10);
    assert.deepEqual([await namesOf(harness), await reasonOf(harness, 'Stuck')], [[], 'NoneStuck']);
    assert.equal((await harness.pool())?.status?.reaped, 504);
  });
});
