import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { machine } from '@tartan/api';
import { type Harness, startHarness } from './harness.ts';

describe('the provider as a process', { timeout: 180_000 }, () => {
  let harness: Harness;
  before(async () => {
    harness = await startHarness({ macs: 1, fleet: 'fleet-a' });
  });
  after(() => harness.stop());

  test('when a manager is killed while it provisions a Mac, the next one finishes', async (t) => {
    // Without a lease, for which the next manager would have to wait.
    const alone = '--leader-elect=false';
    const killed = await harness.startProcess(t, { version: '0.1.0' }, alone);
    await harness.createMachine('mac-a');
    await harness.waitFor(
      machine.resource,
      'mac-a',
      'is being bootstrapped',
      ({ status }) => status?.phase === 'Bootstrapping',
    );
    killed.process.kill('SIGKILL');
    assert.equal((await killed.ended).code, null);

    const next = await harness.startProcess(t, { version: '0.1.0' }, alone);
    const ready = await harness.waitFor(machine.resource, 'mac-a', 'is ready', ({ status }) => status?.ready === true);
    assert.equal(harness.serverNamed('mac-a')?.id, ready.status?.serverID);
    next.process.kill('SIGTERM');
    const { code, stderr } = await next.ended;
    assert.equal(code, 0, stderr);
  });
});
