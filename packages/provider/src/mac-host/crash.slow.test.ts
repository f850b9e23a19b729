import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHarness } from './testing/harness.ts';

const minute = 60_000;

/**
 * A Mac is found, claimed, released and restarted, by a manager that is killed after its nth change of an object or of a server. The
 * change succeeds, but its response is lost. Another manager continues with only what it observes.
 */
describe('a manager that is killed after a change', () => {
  it('leaves a state from which the next one converges', async (t) => {
    let deaths = 0;
    // It survives if it makes fewer changes than that; then there is nothing more to try.
    for (let changes = 1; deaths === changes - 1; changes += 1) {
      await t.test(`number ${changes}`, async (t) => {
        const stage = await createHarness(t);
        const [claimed, released] = [await stage.order('tuist-pool-1'), await stage.order('mac-0')];
        const mac = await stage.machine('mac-1', claimed.id);
        const first = await stage.start({ dieAfter: changes });
        if (first.isDead()) await stage.start();
        await stage.pass(2000);
        await stage.take(claimed.id, mac);
        await stage.patchSpec(claimed.id, { reboot: { requestedAt: new Date(stage.clock.now()).toISOString() } });
        await stage.release(released.id, { reason: 'NotWiped', hostKey: 'SHA256:old' });
        await stage.settle();
        for (let passed = 0; passed < 12 && !first.isDead(); passed += 1) await stage.pass(minute, 30_000);
        if (first.isDead()) deaths += 1;
        await first.stop();
        await stage.start();
        await stage.pass(18 * minute, minute);

        const [held, back] = [await stage.host(claimed.id), await stage.host(released.id)];
        assert.deepEqual([claimed.name, held.status?.state, claimed.installs], ['mac-1', 'held', 0]);
        assert.deepEqual(
          [back.status?.state, back.spec.release, back.status?.wipe],
          ['quarantined', undefined, undefined],
        );
        assert.match(released.name, /^tuist-pool-[0-9a-f]{8}$/);
        assert.ok(released.installs >= 1 && released.installs <= 2, `wiped ${released.installs} times`);
        assert.equal(back.status?.quarantine?.count, 1);
        assert.deepEqual(back.status?.retiredHostKeys, ['SHA256:old']);
        const reboots = stage.scaleway.requests.filter((request) => request.endsWith('/reboot')).length;
        assert.ok(reboots <= 1, `restarted ${reboots} times`);
      });
    }
    assert.ok(deaths >= 15, `killed at ${deaths} points`);
  });
});
