import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nudge, toldOf } from './testing/looks.ts';
import { isRunning, onMac } from './testing/stage.ts';

describe('fields that mean nothing to a virtual machine', { timeout: 120_000 }, () => {
  it('are told once on the Pod, also when another agent comes; those that the server sets are not', () =>
    onMac(async (stage) => {
      stage.start();
      const plain = await stage.pod();
      const probed = await stage.pod((spec) => {
        spec.hostAliases = [{ ip: '192.0.2.1', hostnames: ['x'] }];
        const [container] = spec.containers;
        if (container) container.livenessProbe = { exec: { command: ['true'] } };
      });
      const running = await stage.until(plain, 'is Running', isRunning);
      // What a server sets is there, or this would show nothing.
      assert.equal(running.spec?.dnsPolicy, 'ClusterFirst');
      assert.equal(running.spec.containers[0]?.terminationMessagePath, '/dev/termination-log');
      await stage.until(probed, 'is Running', isRunning);
      await stage.stop();
      stage.start();
      await nudge(stage, probed);
      const seen = await stage.until(probed, 'is looked at', isRunning);
      assert.ok(!toldOf(stage, running).includes('FieldsIgnored'));
      const told = stage.events.filter(({ pod, reason }) => pod === seen.metadata.name && reason === 'FieldsIgnored');
      assert.deepEqual(
        told.map(({ type, message }) => [type, message.split('. ')[0]]),
        [
          [
            'Warning',
            'These fields mean nothing to a virtual machine and are ignored: spec.containers[0].livenessProbe, spec.hostAliases',
          ],
        ],
      );
    }));
});
