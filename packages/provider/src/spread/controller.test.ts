import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFleetSpread } from './controller.ts';
import { fleetHash } from './decide.ts';
import { createHarness } from './testing/harness.ts';

test('a Mac that joins rolls the Deployment once it has been Ready for a minute', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  const stop = await stage.start();
  await stage.pass(70);
  assert.deepEqual(stage.rolls, [fleetHash(['mac-a'])], 'the first set counts as a change');
  await stage.addNode('mac-b');
  await stage.pass(50);
  assert.equal(stage.rolls.length, 1);
  await stage.pass(20);
  assert.deepEqual(stage.rolls.slice(1), [fleetHash(['mac-a', 'mac-b'])]);
  assert.deepEqual(stage.patches.at(-1), {
    metadata: { uid: 'u', resourceVersion: '2' },
    spec: { template: { metadata: { annotations: { 'tuist.dev/fleet-hash': fleetHash(['mac-a', 'mac-b']) } } } },
  });
  assert.match(stage.messages.at(-1) ?? '', /Ready now, 2 in all: mac-a, mac-b$/);
  assert.deepEqual(await stop(), { ok: true });
});

test('a Mac that flaps rolls nothing until it stays', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  await stage.addNode('mac-b');
  const stop = await stage.start();
  await stage.pass(70);
  for (const ready of [false, true, false, true, false]) {
    await stage.setReady('mac-b', ready);
    await stage.pass(50);
  }
  assert.equal(stage.rolls.length, 1);
  await stage.pass(20);
  assert.deepEqual(stage.rolls.slice(1), [fleetHash(['mac-a'])]);
  assert.deepEqual(await stop(), { ok: true });
});

test('a Mac of a sibling fleet changes nothing', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  const stop = await stage.start();
  await stage.pass(70);
  await stage.addNode('builder', 'builders');
  await stage.pass(300);
  assert.equal(stage.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a Deployment that is being rolled is left alone until it is done', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  stage.deployment.status.updatedReplicas = 1;
  const stop = await stage.start();
  await stage.pass(300);
  assert.deepEqual(stage.rolls, []);
  stage.deployment.status.updatedReplicas = 3;
  await stage.pass(40);
  assert.equal(stage.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a deploy between the read and the patch wins: the patch conflicts', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  stage.conflicts.push('the object has been modified');
  const stop = await stage.start();
  await stage.pass(70);
  assert.equal(stage.patches.length, 2, 'looked at again, then rolled');
  assert.equal(stage.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('a fleet that is away as a whole and comes back as it was is not rolled', async (t) => {
  const stage = await createHarness(t);
  await stage.addNode('mac-a');
  const stop = await stage.start();
  await stage.pass(70);
  await stage.setReady('mac-a', false);
  await stage.pass(300);
  await stage.setReady('mac-a', true);
  await stage.pass(300);
  assert.equal(stage.rolls.length, 1);
  assert.deepEqual(await stop(), { ok: true });
});

test('without a Deployment there is no such controller', async (t) => {
  const stage = await createHarness(t);
  assert.equal(createFleetSpread({ ...stage.options, deployment: undefined }), undefined);
  assert.equal(createFleetSpread({ ...stage.options, deployment: { namespace: 'x', name: '' } }), undefined);
});
