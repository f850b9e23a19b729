import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, touchPod } from './testing/pod-checks.ts';

describe('ignored fields of a Pod', { timeout: 120_000 }, () => {
  it('are reported in one event, also after a restart of the agent; defaults of the API server are not', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const plain = await harness.pod();
      const probed = await harness.pod((spec) => {
        spec.hostAliases = [{ ip: '192.0.2.1', hostnames: ['x'] }];
        const [container] = spec.containers;
        if (container) container.livenessProbe = { exec: { command: ['true'] } };
      });
      const running = await harness.waitForPod(plain, 'is Running', isRunning);
      // The server's defaults are set, or this would show nothing.
      assert.equal(running.spec?.dnsPolicy, 'ClusterFirst');
      assert.equal(running.spec.containers[0]?.terminationMessagePath, '/dev/termination-log');
      await harness.waitForPod(probed, 'is Running', isRunning);
      await harness.stopAgent();
      harness.startAgent();
      await touchPod(harness, probed);
      const seen = await harness.waitForPod(probed, 'is reconciled', isRunning);
      assert.ok(!eventReasonsOf(harness, running).includes('FieldsIgnored'));
      const reported = harness.events.filter(
        ({ podName, reason }) => podName === seen.metadata.name && reason === 'FieldsIgnored',
      );
      assert.deepEqual(
        reported.map(({ type, message }) => [type, message.split('. ')[0]]),
        [
          [
            'Warning',
            'These fields mean nothing to a virtual machine and are ignored: spec.containers[0].livenessProbe, spec.hostAliases',
          ],
        ],
      );
    }));
});
