import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { hasEnded, isGone, isRunning, onMac } from './testing/stage.ts';

describe('the life of a Pod on a Mac', { timeout: 120_000 }, () => {
  it('becomes a virtual machine of its own, runs with an address, and leaves nothing behind when it is deleted', () =>
    onMac(async (stage) => {
      stage.start();
      const pod = await stage.pod((spec) => {
        spec.containers = [
          { ...spec.containers[0], name: 'runner', resources: { limits: { cpu: '6', memory: '12Gi' } } },
        ];
      });
      const running = await stage.until(pod, 'is Running', isRunning);
      assert.match(running.status?.podIP ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      assert.equal(running.status?.containerStatuses?.[0]?.ready, true);
      const vm = running.status?.containerStatuses?.[0]?.containerID?.replace('tart://', '') ?? '';
      assert.ok(vm.endsWith(pod.metadata.uid));
      assert.deepEqual(await stage.live(), [vm]);
      const details = await stage.driver.get(vm);
      assert.deepEqual([details?.cpu, details?.memoryMb], [6, 12_288]);
      await stage.delete(pod);
      await stage.until(pod, 'is gone', isGone);
      assert.deepEqual(await stage.live(), []);
      assert.equal(await stage.driver.get(vm), undefined);
      assert.deepEqual(await readdir(join(stage.folder, 'guests')), []);
    }));

  it('a guest that shuts itself down ends it as Succeeded, with times, and is not started again (INC-18, INC-23)', () =>
    onMac(async (stage) => {
      stage.tart.controls.guest('_', { program: 'shutdown -h now' });
      stage.start();
      const pod = await stage.pod();
      const ended = await stage.until(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Succeeded', JSON.stringify(ended.status) + stage.logs.join(''));
      const state = ended.status?.containerStatuses?.[0]?.state?.terminated;
      assert.deepEqual([state?.exitCode, state?.reason], [0, 'TartRunExited']);
      assert.ok(state?.startedAt && state.finishedAt);
      await stage.until(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));
});
