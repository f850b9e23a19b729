import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { machine } from '@tartan/api';
import { startWorld, type World } from './world.ts';

describe('the provider as a process of its own', { timeout: 180_000 }, () => {
  let world: World;
  before(async () => {
    world = await startWorld({ macs: 1, fleet: 'fleet-a' });
  });
  after(() => world.stop());

  test('one that is killed while it makes a Mac ready is followed by another, which finishes', async (t) => {
    // Without a lease, which the next one would have to wait for.
    const alone = '--leader-elect=false';
    const killed = await world.startProcess(t, { version: '0.1.0' }, alone);
    await world.createMachine('mac-a');
    await world.waitFor(
      machine.resource,
      'mac-a',
      'is being made ready',
      ({ status }) => status?.phase === 'Bootstrapping',
    );
    killed.process.kill('SIGKILL');
    assert.equal((await killed.ended).code, null);

    const next = await world.startProcess(t, { version: '0.1.0' }, alone);
    const ready = await world.waitFor(machine.resource, 'mac-a', 'is ready', ({ status }) => status?.ready === true);
    assert.equal(world.serverNamed('mac-a')?.id, ready.status?.serverID);
    next.process.kill('SIGTERM');
    const { code, stderr } = await next.ended;
    assert.equal(code, 0, stderr);
  });
});
