import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHarness } from './testing/harness.ts';

test('finished Pods are deleted when the Machine of their Mac is deleted, and no others', async (t) => {
  const harness = await createHarness(t);
  for (const mac of ['mac-1', 'mac-2']) {
    await harness.addMac(mac);
    await harness.addPod(`${mac}-done`, mac, 'Succeeded');
    await harness.addPod(`${mac}-broken`, mac, 'Failed');
    await harness.addPod(`${mac}-runs`, mac, 'Running');
  }
  await harness.start();
  await harness.pass(60);
  assert.deepEqual(harness.asked, [], 'nobody is asked while no Mac is cordoned');
  // Both are cordoned, one of them only to be rolled.
  await harness.cordon('mac-1');
  await harness.cordon('mac-2');
  await harness.pass(60);
  assert.equal(await harness.isDeleted('mac-1-done'), false, 'its Mac stays');
  await harness.deleteMachine('mac-1');
  await harness.pass(15);
  const found = await Promise.all(
    ['mac-1-done', 'mac-1-broken', 'mac-1-runs', 'mac-2-done', 'mac-2-broken'].map(harness.isDeleted),
  );
  assert.deepEqual(found, [true, true, false, false, false]);
  assert.deepEqual(harness.eventReasons, ['PodReaped', 'PodReaped']);
  assert.deepEqual([await harness.reaped('succeeded'), await harness.reaped('failed')], [1, 1]);
  // The job that core waits for ends an hour later.
  await harness.setPhase('mac-1-runs', 'Succeeded');
  await harness.pass(15);
  assert.equal(await harness.isDeleted('mac-1-runs'), true);
  assert.equal(harness.eventReasons.length, 3, 'those that go already are not reaped again');
});

test('Pods are kept before the Node is cordoned, and on Nodes that are no Macs', async (t) => {
  const harness = await createHarness(t);
  await harness.addMac('mac-1');
  await harness.addMac('linux-1', {});
  await harness.addPod('done', 'mac-1', 'Succeeded');
  await harness.addPod('other', 'linux-1', 'Succeeded');
  await harness.deleteMachine('mac-1');
  await harness.deleteMachine('linux-1');
  await harness.start();
  await harness.pass(60);
  assert.equal(await harness.isDeleted('done'), false, 'core has not begun to drain');
  await harness.cordon('mac-1');
  await harness.cordon('linux-1');
  await harness.pass(1);
  assert.deepEqual([await harness.isDeleted('done'), await harness.isDeleted('other')], [true, false]);
});

test('an uncordoned Mac is not polled any more', async (t) => {
  const harness = await createHarness(t);
  await harness.addMac('mac-1');
  await harness.addPod('runs', 'mac-1', 'Running');
  await harness.start();
  await harness.cordon('mac-1');
  await harness.pass(15);
  assert.ok(harness.asked.length > 0);
  assert.ok(!harness.asked.some((path) => path.includes('/pods')), 'while its Machine stays nobody asks for its Pods');
  await harness.cordon('mac-1', false);
  await harness.pass(15);
  const { length } = harness.asked;
  await harness.pass(60);
  assert.equal(harness.asked.length, length);
});

test('a Pod that changes meanwhile is not deleted, but reconciled again', async (t) => {
  const harness = await createHarness(t);
  await harness.addMac('mac-1');
  await harness.addPod('done', 'mac-1', 'Succeeded');
  let raced = false;
  harness.interpose((send) => async (request) => {
    if (!raced && request.method === 'DELETE') {
      raced = true;
      await harness.setPhase('done', 'Running');
    }
    return send(request);
  });
  await harness.start();
  await harness.deleteMachine('mac-1');
  await harness.cordon('mac-1');
  await harness.pass(30);
  assert.ok(raced);
  assert.equal(await harness.isDeleted('done'), false);
  assert.deepEqual(harness.eventReasons, []);
  await harness.setPhase('done', 'Succeeded');
  await harness.pass(15);
  assert.equal(await harness.isDeleted('done'), true);
});
