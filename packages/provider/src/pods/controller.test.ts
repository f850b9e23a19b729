import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError, pods } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const ours = finalizers.vmCleanup;

test('a deleted Pod of a deleted Node is released after the grace period, not before, and an event says why (INC-71)', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-1');
  await harness.addPod('vm', 'mac-1');
  const { stop } = await harness.start();
  await harness.deletePod('vm');
  await harness.pass(20);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours], 'the Node exists');
  await harness.removeNode('mac-1');
  await harness.pass(4.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours], 'the grace is not over');
  await harness.pass(1);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  const [event, ...more] = await harness.eventsOf('vm');
  assert.equal(more.length, 0);
  assert.equal(event?.reason, 'FinalizerRemoved');
  assert.match(event.message ?? '', /the Node mac-1 has been gone for more than 300 s/);
  assert.equal(await harness.released('node_gone'), 1);
  await stop();
});

test('the grace period starts at the deletion if the Node was gone before', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  const { stop } = await harness.start();
  await harness.pass(20);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours], 'nobody has deleted it');
  await harness.deletePod('vm', 60);
  await harness.pass(5.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours], 'a minute to end, and five of grace');
  await harness.pass(1);
  assert.deepEqual(await harness.finalizersOf('vm'), [], 'Kubernetes does the rest');
  await stop();
});

test('with the garbage collector of Kubernetes, a Pod that nobody deleted is released too once its Node is gone', async (t) => {
  const harness = await createHarness(t, { builtInControllers: true });
  await harness.addNode('mac-1');
  await harness.addPod('vm', 'mac-1');
  const { stop } = await harness.start();
  await harness.settle();
  await harness.removeNode('mac-1');
  await harness.pass(8);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});

test('a Node that comes back, however briefly, restarts the grace period', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  const { stop } = await harness.start();
  await harness.pass(4.5);
  await harness.addNode('mac-1');
  await harness.removeNode('mac-1');
  await harness.pass(4.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours]);
  await harness.pass(1);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});

test('a restarted manager waits a whole grace period', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  const first = await harness.start();
  await harness.pass(4.5);
  await first.stop();
  const { stop } = await harness.start();
  await harness.pass(4.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours]);
  await harness.pass(1);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});

test('a Pod that never had a Node is released after the grace period', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', undefined, [ours, 'example.com/theirs']);
  const { stop } = await harness.start();
  await harness.deletePod('vm');
  await harness.pass(4.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours, 'example.com/theirs']);
  await harness.pass(1);
  assert.deepEqual(await harness.finalizersOf('vm'), ['example.com/theirs'], 'finalizers of others stay');
  assert.match((await harness.eventsOf('vm'))[0]?.message ?? '', /never had a Node/);
  assert.equal(await harness.released('never_bound'), 1);
  await stop();
});

test('a Node that registers just before the write keeps its Pods', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  let registered = false;
  // The cache is stale: the change comes between the last cached and the first live read.
  harness.interpose((send) => async (request) => {
    if (!registered && request.method === 'GET' && request.path.includes('/pods/vm')) {
      registered = true;
      await harness.addNode('mac-1');
    }
    return send(request);
  });
  const { stop } = await harness.start();
  await harness.pass(20);
  assert.ok(registered);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours]);
  assert.equal(await harness.released('node_gone'), 0);
  await stop();
});

test('a Pod that changes between the read and the patch is reconciled again, and counted once (INC-71)', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  let patches = 0;
  harness.interpose((send) => async (request) => {
    if (request.method === 'PATCH' && request.path.includes('/pods/vm')) {
      patches += 1;
      const body = { metadata: { annotations: { written: 'meanwhile' } } };
      if (patches === 1)
        await harness.client.patch(pods, { namespace: 'runners', name: 'vm' }, { type: 'merge', body });
    }
    return send(request);
  });
  const { stop } = await harness.start();
  await harness.pass(6);
  assert.equal(patches, 2);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  assert.equal(await harness.released('node_gone'), 1);
  await stop();
});

test('an unreachable server is retried when the grace period is over', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  let away = true;
  harness.interpose((send) => (request) => {
    const about = /\/(pods\/vm|nodes\/mac-1)\b/.test(request.path);
    return away && about ? Promise.reject(new KubeError('unreachable', 'the server is away')) : send(request);
  });
  const { stop } = await harness.start();
  await harness.pass(10);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours], 'no answer is not the answer that the Node is gone');
  away = false;
  await harness.pass(20);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});

test('a Node that is missing in the cache is read from the server, and keeps its Pods until it is gone there', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-1');
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  const { stop } = await harness.start({ nodesWith: 'no=such' });
  await harness.pass(30);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours]);
  await harness.removeNode('mac-1');
  await harness.pass(11);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});

test('a manager that leads again restarts every grace period: the Node may have been back meanwhile', async (t) => {
  const harness = await createHarness(t);
  await harness.addPod('vm', 'mac-1');
  await harness.deletePod('vm');
  const { stop, stopLeading, leadAgain } = await harness.start();
  await harness.pass(4.5);
  await stopLeading();
  await harness.addNode('mac-1');
  await harness.pass(1);
  await harness.removeNode('mac-1');
  await harness.pass(1);
  leadAgain();
  await harness.pass(4.5);
  assert.deepEqual(await harness.finalizersOf('vm'), [ours]);
  await harness.pass(1);
  assert.equal(await harness.finalizersOf('vm'), undefined);
  await stop();
});
