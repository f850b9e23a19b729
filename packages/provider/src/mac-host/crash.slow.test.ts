import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;

/**
 * A Mac is found, claimed, released and restarted, by a manager that is killed after its nth change of an object or of a server. The
 * change succeeds, but its response is lost. Another manager continues with only what it observes.
 */
describe('a manager killed after a write', () => {
  it('leaves a state from which the next manager converges', async (t) => {
    let crashes = 0;
    // It survives if it makes fewer changes than that; then there is nothing more to try.
    for (let changes = 1; crashes === changes - 1; changes += 1) {
      await t.test(`number ${changes}`, async (t) => {
        const harness = await createHarness(t);
        const [claimed, released] = [await harness.order('tuist-pool-1'), await harness.order('mac-0')];
        const mac = await harness.machine('mac-1', claimed.id);
        const first = await harness.start({ dieAfter: changes });
        if (first.isDead()) await harness.start();
        await harness.pass(2000);
        await harness.take(claimed.id, mac);
        await harness.patchSpec(claimed.id, { reboot: { requestedAt: new Date(harness.clock.now()).toISOString() } });
        await harness.release(released.id, { reason: 'NotWiped', hostKey: 'SHA256:old' });
        await harness.settle();
        for (let passed = 0; passed < 12 && !first.isDead(); passed += 1) await harness.pass(minute, 30_000);
        if (first.isDead()) crashes += 1;
        await first.stop();
        await harness.start();
        await harness.pass(18 * minute, minute);

        const [held, back] = [await harness.host(claimed.id), await harness.host(released.id)];
        assert.deepEqual([claimed.name, held.status?.state, claimed.installs], ['mac-1', 'held', 0]);
        assert.deepEqual(
          [back.status?.state, back.spec.release, back.status?.wipe],
          ['quarantined', undefined, undefined],
        );
        assert.match(released.name, /^tuist-pool-[0-9a-f]{8}$/);
        assert.ok(released.installs >= 1 && released.installs <= 2, `wiped ${released.installs} times`);
        assert.equal(back.status?.quarantine?.count, 1);
        assert.deepEqual(back.status?.retiredHostKeys, ['SHA256:old']);
        const reboots = harness.scaleway.requests.filter((request) => request.endsWith('/reboot')).length;
        assert.ok(reboots <= 1, `restarted ${reboots} times`);
      });
    }
    assert.ok(crashes >= 15, `killed at ${crashes} points`);
  });
});
