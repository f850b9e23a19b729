import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHarness } from './testing/harness.ts';

test('Pods that have ended go with the Machine of their Mac, and no others', async (t) => {
  const stage = await createHarness(t);
  for (const mac of ['mac-1', 'mac-2']) {
    await stage.addMac(mac);
    await stage.addPod(`${mac}-done`, mac, 'Succeeded');
    await stage.addPod(`${mac}-broken`, mac, 'Failed');
    await stage.addPod(`${mac}-runs`, mac, 'Running');
  }
  await stage.start();
  await stage.pass(60);
  assert.deepEqual(stage.asked, [], 'nobody is asked while no Mac is cordoned');
  // Both are cordoned, one of them only to be rolled.
  await stage.cordon('mac-1');
  await stage.cordon('mac-2');
  await stage.pass(60);
  assert.equal(await stage.isDeleted('mac-1-done'), false, 'its Mac stays');
  await stage.deleteMachine('mac-1');
  await stage.pass(15);
  const found = await Promise.all(
    ['mac-1-done', 'mac-1-broken', 'mac-1-runs', 'mac-2-done', 'mac-2-broken'].map(stage.isDeleted),
  );
  assert.deepEqual(found, [true, true, false, false, false]);
  assert.deepEqual(stage.eventReasons, ['PodReaped', 'PodReaped']);
  assert.deepEqual([await stage.reaped('succeeded'), await stage.reaped('failed')], [1, 1]);
  // The job that core waits for ends an hour later.
  await stage.setPhase('mac-1-runs', 'Succeeded');
  await stage.pass(15);
  assert.equal(await stage.isDeleted('mac-1-runs'), true);
  assert.equal(stage.eventReasons.length, 3, 'those that go already are not reaped again');
});

test('a Machine that is being deleted before its Node is cordoned, and Nodes that are no Macs', async (t) => {
  const stage = await createHarness(t);
  await stage.addMac('mac-1');
  await stage.addMac('linux-1', {});
  await stage.addPod('done', 'mac-1', 'Succeeded');
  await stage.addPod('other', 'linux-1', 'Succeeded');
  await stage.deleteMachine('mac-1');
  await stage.deleteMachine('linux-1');
  await stage.start();
  await stage.pass(60);
  assert.equal(await stage.isDeleted('done'), false, 'core has not begun to drain');
  await stage.cordon('mac-1');
  await stage.cordon('linux-1');
  await stage.pass(1);
  assert.deepEqual([await stage.isDeleted('done'), await stage.isDeleted('other')], [true, false]);
});

test('a Mac that takes Pods again is asked about no more', async (t) => {
  const stage = await createHarness(t);
  await stage.addMac('mac-1');
  await stage.addPod('runs', 'mac-1', 'Running');
  await stage.start();
  await stage.cordon('mac-1');
  await stage.pass(15);
  assert.ok(stage.asked.length > 0);
  assert.ok(!stage.asked.some((path) => path.includes('/pods')), 'while its Machine stays nobody asks for its Pods');
  await stage.cordon('mac-1', false);
  await stage.pass(15);
  const { length } = stage.asked;
  await stage.pass(60);
  assert.equal(stage.asked.length, length);
});

test('a Pod that is written meanwhile is not deleted; it is reconciled again', async (t) => {
  const stage = await createHarness(t);
  await stage.addMac('mac-1');
  await stage.addPod('done', 'mac-1', 'Succeeded');
  let raced = false;
  stage.interpose((send) => async (request) => {
    if (!raced && request.method === 'DELETE') {
      raced = true;
      await stage.setPhase('done', 'Running');
    }
    return send(request);
  });
  await stage.start();
  await stage.deleteMachine('mac-1');
  await stage.cordon('mac-1');
  await stage.pass(30);
  assert.ok(raced);
  assert.equal(await stage.isDeleted('done'), false);
  assert.deepEqual(stage.eventReasons, []);
  await stage.setPhase('done', 'Succeeded');
  await stage.pass(15);
  assert.equal(await stage.isDeleted('done'), true);
});
