import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';

describe('the lifecycle of a Pod on a Mac', { timeout: 120_000 }, () => {
  it('starts a VM, runs with an address, and leaves nothing behind after deletion', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const pod = await harness.pod((spec) => {
        spec.containers = [
          { ...spec.containers[0], name: 'runner', resources: { limits: { cpu: '6', memory: '12Gi' } } },
        ];
      });
      const running = await harness.waitForPod(pod, 'is Running', isRunning);
      assert.match(running.status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      assert.equal(running.status?.containerStatuses?.[0]?.ready, true);
      const vm = running.status?.containerStatuses?.[0]?.containerID?.replace('tart://', '') ?? '';
      assert.ok(vm.endsWith(pod.metadata.uid));
      assert.deepEqual(await harness.runningVms(), [vm]);
      const details = await harness.driver.get(vm);
      assert.deepEqual([details?.cpu, details?.memoryMb], [6, 12_288]);
      await harness.deletePod(pod);
      await harness.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await harness.runningVms(), []);
      assert.equal(await harness.driver.get(vm), undefined);
      assert.deepEqual(await readdir(join(harness.folder, 'guests')), []);
    }));

  it('is Succeeded, with times, when the guest shuts down, and is not started again (INC-18, INC-23)', () =>
    withMac(async (harness) => {
      harness.tart.controls.guest('_', { program: 'shutdown -h now' });
      harness.startAgent();
      const pod = await harness.pod();
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Succeeded', JSON.stringify(ended.status) + harness.logs.join(''));
      const state = ended.status?.containerStatuses?.[0]?.state?.terminated;
      assert.deepEqual([state?.exitCode, state?.reason], [0, 'TartRunExited']);
      assert.ok(state?.startedAt && state.finishedAt);
      await harness.waitForPod(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
      assert.equal(harness.tart.journal.calls('run').length, 1);
    }));
});
