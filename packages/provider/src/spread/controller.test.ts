import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFleetSpread } from './controller.ts';
import { fleetHash } from './decide.ts';
import { createHarness } from './testing/harness.ts';

test('a Mac that joins rolls the Deployment once it has been Ready for a minute', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  const stop = await harness.start();
  await harness.pass(70);
  assert.deepEqual(harness.rolls, [fleetHash(['mac-a'])], 'the first set counts as a change');
  await harness.addNode('mac-b');
  await harness.pass(50);
  assert.equal(harness.rolls.length, 1);
  await harness.pass(20);
  assert.deepEqual(harness.rolls.slice(1), [fleetHash(['mac-a', 'mac-b'])]);
  assert.deepEqual(harness.patches.at(-1), {
    metadata: { uid: 'u', resourceVersion: '2' },
    spec: { template: { metadata: { annotations: { 'tuist.dev/fleet-hash': fleetHash(['mac-a', 'mac-b']) } } } },
  });
  assert.match(harness.messages.at(-1) ?? '', /Ready now, 2 in all: mac-a, mac-b$/);
  assert.deepEqual(await stop(), { ok: true });
});

test('a flapping Mac rolls nothing until it is stable', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  await harness.addNode('mac-b');
  const stop = await harness.start();
  await harness.pass(70);
  for (const ready of [false, true, false, true, false]) {
    await harness.setReady('mac-b', ready);
    await harness.pass(50);
  }
  assert.equal(harness.rolls.length, 1);
  await harness.pass(20);
  assert.deepEqual(harness.rolls.slice(1), [fleetHash(['mac-a'])]);
  assert.deepEqual(await stop(), { ok: true });
});

test('a Mac of another fleet changes nothing', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  const stop = await harness.start();
  await harness.pass(70);
  await harness.addNode('builder', 'builders');
  await harness.pass(300);
  assert.equal(harness.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a Deployment is not rolled during another rollout', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  harness.deployment.status.updatedReplicas = 1;
  const stop = await harness.start();
  await harness.pass(300);
  assert.deepEqual(harness.rolls, []);
  harness.deployment.status.updatedReplicas = 3;
  await harness.pass(40);
  assert.equal(harness.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a concurrent deploy wins: the patch conflicts', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  harness.conflicts.push('the object has been modified');
  const stop = await harness.start();
  await harness.pass(70);
  assert.equal(harness.patches.length, 2, 'looked at again, then rolled');
  assert.equal(harness.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a fleet that is away as a whole and comes back unchanged is not rolled', async (t) => {
  const harness = await createHarness(t);
  await harness.addNode('mac-a');
  const stop = await harness.start();
  await harness.pass(70);
  await harness.setReady('mac-a', false);
  await harness.pass(300);
  await harness.setReady('mac-a', true);
  await harness.pass(300);
  assert.equal(harness.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('without a Deployment the controller is not created', async (t) => {
  const harness = await createHarness(t);
  assert.equal(createFleetSpread({ ...harness.options, deployment: undefined }), undefined);
  assert.equal(createFleetSpread({ ...harness.options, deployment: { namespace: 'x', name: '' } }), undefined);
});
