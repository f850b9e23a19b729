import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finalizers, runnerBusyCondition } from '@tartan/api';
import { KubeError, pods, serviceAccounts, type Transport } from '@tartan/kube';
import { podOf } from './pod-template.ts';
import { countsOf, createHarness, namesOf, namespace, reasonOf } from './testing/harness.ts';

type Send = Transport['send'];

const on = async (t: { after(run: () => Promise<void>): void }, replicas: number) => {
  const stage = await createHarness({ macs: 1, slots: 8 });
  t.after(() => stage.end());
  await stage.addSecret();
  await stage.addPool(replicas);
  return stage;
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
    const stage = await on(t, 1);
    stage.settings.notices = false;
    let raced = '';
    await stage.start((send) => async (request) => {
      if (raced === '' && request.method === 'DELETE' && request.path.includes('/pods/')) {
        raced = request.path.split('/').at(-1) ?? '';
        for (const guest of stage.macs[0]?.guests.values() ?? []) guest.state = 'works';
        const body = { status: { conditions: [{ type: runnerBusyCondition, status: 'True' }] } };
        await stage.client.patch(pods, { namespace, name: raced }, { type: 'merge', body }, { subresource: 'status' });
      }
      return send(request);
    });
    await stage.advance(40, 10);
    await stage.setSpec({ replicas: 0 });
    await stage.advance(200, 20);
    assert.notEqual(raced, '');
    const [pod] = await stage.pods();
    assert.deepEqual([pod?.metadata.name, pod?.metadata.deletionTimestamp], [raced, undefined]);
  });

  test('a Pod with a Secret but without its annotation is annotated, not deleted', async (t) => {
    const stage = await on(t, 1);
    // The Pod never gets the annotation: each of these writes fails.
    let isFailing = true;
    await stage.start((send) => (request) => {
      if (isFailing && request.method === 'PATCH' && /\/pods\/[^/]+\?/.test(request.path))
        return Promise.reject(new KubeError('unreachable', 'the connection was cut'));
      return send(request);
    });
    await stage.advance(30, 10);
    assert.equal((await stage.secrets()).length, 1);
    isFailing = false;
    await stage.setSpec({ replicas: 0 });
    stage.github.queueJob({ repository: 'acme/app', labels: ['macOS'] });
    await stage.advance(60, 10);
    assert.deepEqual([stage.killed, (await namesOf(stage)).length], [[], 1]);
  });

  test('a stale Pod cache creates no Pod twice', async (t) => {
    const stage = await on(t, 3);
    let isDeaf = true;
    await stage.start(deaf('pods', () => isDeaf));
    await stage.advance(180, 30);
    assert.equal((await namesOf(stage)).length, 3);
    isDeaf = false;
    await stage.advance(60, 10);
    assert.deepEqual(await countsOf(stage), { replicas: 3, warm: 3, busy: 0, retiring: 0, stale: 0 });
  });

  test('a stale cache retires no runner that has a job', async (t) => {
    const stage = await on(t, 1);
    let isDeaf = false;
    await stage.start(deaf('pods', () => isDeaf));
    await stage.advance(40, 10);
    isDeaf = true;
    stage.github.faults.staleBusyFor = 600_000;
    stage.github.faults.deleteWhileStale = 'accepted';
    const job = stage.github.queueJob({ repository: 'acme/app', labels: ['macOS'] });
    await stage.advance(10);
    await stage.setSpec({ replicas: 0 });
    await stage.advance(60, 10);
    assert.equal(job.status, 'in_progress');
    assert.equal(stage.github.runners().length, 1);
    isDeaf = false;
    await stage.advance(300, 20);
    assert.deepEqual([job.conclusion, stage.killed, await namesOf(stage)], ['success', [], []]);
  });

  test('a Node missing from the cache is read live before its Pod counts as lost', async (t) => {
    const stage = await on(t, 2);
    await stage.start(deaf('nodes', () => true));
    const [first] = stage.macs;
    assert.ok(first);
    await stage.cordon(first);
    await stage.addMac();
    await stage.advance(60, 10);
    assert.deepEqual(await namesOf(stage), ['macos-runner-00000001', 'macos-runner-00000002']);
    assert.equal((await countsOf(stage)).warm, 2);
    assert.deepEqual(stage.told, []);
  });

  test('504 finished Pods stuck in deletion are skipped, reported, and removed once released', async (t) => {
    const stage = await on(t, 0);
    const [mac] = stage.macs;
    const pool = await stage.pool();
    assert.ok(mac && pool);
    mac.holdBack(true);
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } } as const;
    await stage.client.create(serviceAccounts, account);
    for (let index = 0; index < 504; index += 1) {
      const name = `macos-runner-${(0xf0000000 + index).toString(16)}`;
      const pod = podOf(pool, name);
      await stage.client.create(pods, {
        ...pod,
        metadata: { ...pod.metadata, finalizers: [finalizers.vmCleanup] },
        ...(pod.spec && { spec: { ...pod.spec, nodeName: mac.name, serviceAccountName: 'default' } }),
      });
      const body = { status: { phase: 'Succeeded' } };
      await stage.client.patch(pods, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
    }
    let deletes = 0;
    await stage.start((send) => (request) => {
      if (request.method === 'DELETE' && request.path.includes('/pods/')) deletes += 1;
      return send(request);
    });
    await stage.advance(30, 5);
    assert.deepEqual([deletes, (await stage.pool())?.status?.reaped], [504, 504]);
    assert.equal((await stage.pool())?.status?.finished?.length, 50);
    await stage.advance(11 * 60, 60);
    assert.equal(deletes, 504, 'those that go already are left to their agents');
    const { stuck, oldestStuckSince } = (await stage.pool())?.status ?? {};
    assert.deepEqual([stuck, oldestStuckSince !== undefined], [504, true]);
    assert.equal(await reasonOf(stage, 'Stuck'), 'PodsStuckTerminating');
    assert.equal(stage.told.filter((reason) => reason === 'RunnerPodStuck').length, 1);
    mac.holdBack(false);
    await stage.advance(20, 10);
    assert.deepEqual([await namesOf(stage), await reasonOf(stage, 'Stuck')], [[], 'NoneStuck']);
    assert.equal((await stage.pool())?.status?.reaped, 504);
  });
});
