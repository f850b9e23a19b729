import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError, pods } from '@tartan/kube';
import { createHarness } from './testing/harness.ts';

const ours = finalizers.vmCleanup;

test('a deleted Pod of a Mac that is gone goes after the grace, not before, and an event says why (INC-71)', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-1');
  await stage.addPod('vm', 'mac-1');
  const { stop } = await stage.start();
  await stage.deletePod('vm');
  await stage.pass(20);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours], 'the Node exists');
  await stage.removeNode('mac-1');
  await stage.pass(4.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours], 'the grace is not over');
  await stage.pass(1);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  const [event, ...more] = await stage.eventsOf('vm');
  assert.equal(more.length, 0);
  assert.equal(event?.reason, 'FinalizerRemoved');
  assert.match(event.message ?? '', /the Node mac-1 has been gone for more than 300 s/);
  assert.equal(await stage.released('node_gone'), 1);
  await stop();
});

test('a Pod that is deleted long after its Mac went away waits a grace from then', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  const { stop } = await stage.start();
  await stage.pass(20);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours], 'nobody has deleted it');
  await stage.deletePod('vm', 60);
  await stage.pass(5.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours], 'a minute to end, and five of grace');
  await stage.pass(1);
  assert.deepEqual(await stage.finalizersOf('vm'), [], 'Kubernetes does the rest');
  await stop();
});

test('with the garbage collector of Kubernetes, a Pod that nobody deleted goes too once its Mac is gone', async (t) => {
  const stage = await createHarness(t, { builtInControllers: true });
  await stage.addNode('mac-1');
  await stage.addPod('vm', 'mac-1');
  const { stop } = await stage.start();
  await stage.settle();
  await stage.removeNode('mac-1');
  await stage.pass(8);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});

test('a Node that comes back, however briefly, starts the grace anew', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  const { stop } = await stage.start();
  await stage.pass(4.5);
  await stage.addNode('mac-1');
  await stage.removeNode('mac-1');
  await stage.pass(4.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours]);
  await stage.pass(1);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});

test('a process that starts anew waits a whole grace of its own', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  const first = await stage.start();
  await stage.pass(4.5);
  await first.stop();
  const { stop } = await stage.start();
  await stage.pass(4.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours]);
  await stage.pass(1);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});

test('a Pod that never had a Node is released after the grace period', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', undefined, [ours, 'example.com/theirs']);
  const { stop } = await stage.start();
  await stage.deletePod('vm');
  await stage.pass(4.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours, 'example.com/theirs']);
  await stage.pass(1);
  assert.deepEqual(await stage.finalizersOf('vm'), ['example.com/theirs'], 'finalizers of others stay');
  assert.match((await stage.eventsOf('vm'))[0]?.message ?? '', /never had a Node/);
  assert.equal(await stage.released('never_bound'), 1);
  await stop();
});

test('a Node that registers just before the write is seen, and keeps its Pods', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  let registered = false;
  // The cache is stale: the change comes between the last cached and the first live read.
  stage.interpose((send) => async (request) => {
    if (!registered && request.method === 'GET' && request.path.includes('/pods/vm')) {
      registered = true;
      await stage.addNode('mac-1');
    }
    return send(request);
  });
  const { stop } = await stage.start();
  await stage.pass(20);
  assert.ok(registered);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours]);
  assert.equal(await stage.released('node_gone'), 0);
  await stop();
});

test('a Pod that is written between the read and the patch is reconciled again, and counted once (INC-71)', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  let patches = 0;
  stage.interpose((send) => async (request) => {
    if (request.method === 'PATCH' && request.path.includes('/pods/vm')) {
      patches += 1;
      const body = { metadata: { annotations: { written: 'meanwhile' } } };
      if (patches === 1) await stage.client.patch(pods, { namespace: 'runners', name: 'vm' }, { type: 'merge', body });
    }
    return send(request);
  });
  const { stop } = await stage.start();
  await stage.pass(6);
  assert.equal(patches, 2);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  assert.equal(await stage.released('node_gone'), 1);
  await stop();
});

test('a server that is away when the time has come is asked again until it answers', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  let away = true;
  stage.interpose((send) => (request) => {
    const about = /\/(pods\/vm|nodes\/mac-1)\b/.test(request.path);
    return away && about ? Promise.reject(new KubeError('unreachable', 'the server is away')) : send(request);
  });
  const { stop } = await stage.start();
  await stage.pass(10);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours], 'no answer is not the answer that the Node is gone');
  away = false;
  await stage.pass(20);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});

test('a Node that the cache does not hold is found on the server, and keeps its Pods until it is gone there', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-1');
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  const { stop } = await stage.start({ nodesWith: 'no=such' });
  await stage.pass(30);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours]);
  await stage.removeNode('mac-1');
  await stage.pass(11);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});

test('a manager that leads again starts every grace period anew: the Node may have been back meanwhile', async (t) => {
  const stage = await createHarness(t);
  await stage.addPod('vm', 'mac-1');
  await stage.deletePod('vm');
  const { stop, stopLeading, leadAgain } = await stage.start();
  await stage.pass(4.5);
  await stopLeading();
  await stage.addNode('mac-1');
  await stage.pass(1);
  await stage.removeNode('mac-1');
  await stage.pass(1);
  leadAgain();
  await stage.pass(4.5);
  assert.deepEqual(await stage.finalizersOf('vm'), [ours]);
  await stage.pass(1);
  assert.equal(await stage.finalizersOf('vm'), undefined);
  await stop();
});
