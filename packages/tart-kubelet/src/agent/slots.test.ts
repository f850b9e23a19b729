import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { noSpaceTexts } from '@tartan/sim-mac';
import { type Harness, hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, runInGuest, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const running = async (stage: Harness) => stage.waitForPod(await stage.pod(), 'is Running', isRunning);
const clones = async (stage: Harness): Promise<string[]> =>
  (await readdir(join(stage.tart.home, 'vms'))).filter((name) => name.startsWith('runners-'));

describe('the VM slots of a Mac', { timeout: 120_000 }, () => {
  it('keep a third Pod waiting, with a reason and without a clone, until one is free (INC-41)', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const [first] = await Promise.all([running(stage), running(stage)]);
      const third = await stage.pod();
      const waiting = await stage.waitForPod(third, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
      assert.match(
        waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
        /2 virtual machines run or start on this Mac, and it can run 2/,
      );
      assert.equal((await clones(stage)).length, 2);
      await runInGuest(stage, vmNameOf(first), 'shutdown -h now');
      await stage.waitForPod(third, 'is Running', isRunning);
      assert.equal(stage.tart.journal.calls('run').length, 3);
    }));

  it('are also used by VMs that the agent did not start (INC-41)', () =>
    withMac(
      async (stage) => {
        stage.tart.addVm('bake');
        await stage.driver.run('bake', { logFile: join(stage.folder, 'bake.log') });
        await eventually('it is on', async () => (await stage.runningVms()).includes('bake'));
        stage.startAgent();
        await running(stage);
        const second = await stage.pod();
        await stage.waitForPod(second, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        await stage.driver.stop('bake', { timeoutSeconds: 1 });
        await stage.waitForPod(second, 'is Running', isRunning);
        assert.ok((await readdir(join(stage.tart.home, 'vms'))).includes('bake'), 'nobody deletes what is not ours');
      },
      { speed: 10 },
    ));

  it('are counted again right before a start (INC-41)', () =>
    withMac(
      async (stage) => {
        stage.tart.addVm('bake');
        stage.startAgent((options) => ({
          ...options,
          tart: {
            ...options.tart,
            clone: async (source, name, more) => {
              if (name.startsWith('runners-')) {
                await stage.driver.run('bake', { logFile: join(stage.folder, 'bake.log') });
                await eventually('it is on', async () => (await stage.runningVms()).includes('bake'));
              }
              await options.tart.clone(source, name, more);
            },
          },
        }));
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        assert.equal((await clones(stage)).length, 1);
        assert.deepEqual(await stage.runningVms(), ['bake']);
        await stage.driver.stop('bake', { timeoutSeconds: 1 });
        await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(stage.tart.journal.calls('set').length, 1, 'it was ready all the time');
      },
      { speed: 10, vmSlots: 1 },
    ));

  it('that macOS refuses leave one clone that is retried, not many', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ limit: 0 });
        stage.startAgent();
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'is refused', (seen) => waitingReason(seen) === 'TartCreateFailed');
        await eventually('it was tried again', () => stage.tart.journal.calls('run').length >= 3);
        assert.deepEqual((await clones(stage)).length, 1);
        stage.tart.controls.host({ limit: undefined });
        const seen = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(await clones(stage), [vmNameOf(seen)]);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(seen.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));
});

describe('a Mac with a full disk', { timeout: 120_000 }, () => {
  it('collects garbage when a clone fails for lack of space, and retries the clone (B2)', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        await running(stage);
        const [noRoom] = noSpaceTexts;
        stage.tart.controls.command('clone', { answer: { code: 1, stderr: noRoom, times: 1 } });
        const before = stage.tart.journal.calls('clone').length;
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(stage.tart.journal.calls('clone').length - before, 2);
        assert.ok(!eventReasonsOf(stage, pod).includes('Failed'), 'nobody had to hear of it');
      },
      { disableVMGC: false },
    ));
});

describe('a Pod that cannot run on a Mac', { timeout: 120_000 }, () => {
  it('of a DaemonSet that is not for Macs stays Pending with the reason, and takes no slot (INC-74, INC-41)', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const daemon = await stage.pod((spec, pod) => {
        pod.metadata = {
          ...pod.metadata,
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'uid-of-logs' }],
        };
        spec.tolerations = [{ operator: 'Exists' }];
      });
      const linux = await stage.pod((spec) => {
        spec.os = { name: 'linux' };
      });
      for (const one of [daemon, linux]) {
        const left = await stage.waitForPod(one, 'is left', (seen) => waitingReason(seen) === 'NotForMacs');
        assert.deepEqual([left.status?.phase, left.status?.reason], ['Pending', 'NotForMacs']);
        assert.deepEqual([...new Set(eventReasonsOf(stage, one))], ['NotForMacs']);
        assert.deepEqual(left.metadata.finalizers ?? [], []);
      }
      await Promise.all([running(stage), running(stage)]);
      await stage.deletePod(daemon);
      await stage.waitForPod(daemon, 'is gone', isGone);
    }));

  it('that asks for a Mac is rejected, with an event and a status that say what to change', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const pod = await stage.pod((spec) => {
        spec.containers = [...spec.containers, { name: 'beside', image: 'ghcr.io/example/macos:26' }];
      });
      const rejected = await stage.waitForPod(pod, 'is rejected', hasEnded);
      assert.deepEqual([rejected.status?.phase, rejected.status?.reason], ['Failed', 'UnsupportedPod']);
      assert.match(rejected.status?.message ?? '', /Make them Pods of their own/);
      const [event] = stage.events.filter((one) => one.podName === pod.metadata.name);
      assert.deepEqual([event?.type, event?.reason], ['Warning', 'UnsupportedPod']);
      assert.deepEqual(stage.tart.journal.calls(), []);
    }));
});
