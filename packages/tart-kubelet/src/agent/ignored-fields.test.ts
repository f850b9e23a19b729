import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, touchPod } from './testing/pod-checks.ts';

describe('ignored fields of a Pod', { timeout: 120_000 }, () => {
  it('are reported in one event, also after a restart of the agent; defaults of the API server are not', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const plain = await stage.pod();
      const probed = await stage.pod((spec) => {
        spec.hostAliases = [{ ip: '192.0.2.1', hostnames: ['x'] }];
        const [container] = spec.containers;
        if (container) container.livenessProbe = { exec: { command: ['true'] } };
      });
      const running = await stage.waitForPod(plain, 'is Running', isRunning);
      // The server's defaults are set, or this would show nothing.
      assert.equal(running.spec?.dnsPolicy, 'ClusterFirst');
      assert.equal(running.spec.containers[0]?.terminationMessagePath, '/dev/termination-log');
      await stage.waitForPod(probed, 'is Running', isRunning);
      await stage.stopAgent();
      stage.startAgent();
      await touchPod(stage, probed);
      const seen = await stage.waitForPod(probed, 'is looked at', isRunning);
      assert.ok(!eventReasonsOf(stage, running).includes('FieldsIgnored'));
      const told = stage.events.filter(
        ({ podName, reason }) => podName === seen.metadata.name && reason === 'FieldsIgnored',
      );
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
