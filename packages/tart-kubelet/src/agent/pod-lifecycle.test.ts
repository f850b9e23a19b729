import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';

describe('the lifecycle of a Pod on a Mac', { timeout: 120_000 }, () => {
  it('starts a VM, runs with an address, and leaves nothing behind after deletion', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const pod = await stage.pod((spec) => {
        spec.containers = [
          { ...spec.containers[0], name: 'runner', resources: { limits: { cpu: '6', memory: '12Gi' } } },
        ];
      });
      const running = await stage.waitForPod(pod, 'is Running', isRunning);
      assert.match(running.status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      assert.equal(running.status?.containerStatuses?.[0]?.ready, true);
      const vm = running.status?.containerStatuses?.[0]?.containerID?.replace('tart://', '') ?? '';
      assert.ok(vm.endsWith(pod.metadata.uid));
      assert.deepEqual(await stage.runningVms(), [vm]);
      const details = await stage.driver.get(vm);
      assert.deepEqual([details?.cpu, details?.memoryMb], [6, 12_288]);
      await stage.deletePod(pod);
      await stage.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await stage.runningVms(), []);
      assert.equal(await stage.driver.get(vm), undefined);
      assert.deepEqual(await readdir(join(stage.folder, 'guests')), []);
    }));

  it('is Succeeded, with times, when the guest shuts down, and is not started again (INC-18, INC-23)', () =>
    withMac(async (stage) => {
      stage.tart.controls.guest('_', { program: 'shutdown -h now' });
      stage.startAgent();
      const pod = await stage.pod();
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Succeeded', JSON.stringify(ended.status) + stage.logs.join(''));
      const state = ended.status?.containerStatuses?.[0]?.state?.terminated;
      assert.deepEqual([state?.exitCode, state?.reason], [0, 'TartRunExited']);
      assert.ok(state?.startedAt && state.finishedAt);
      await stage.waitForPod(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));
});
