import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { noSpaceTexts } from '@tartan/sim-mac';
import { type Harness, hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, runInGuest, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const running = async (harness: Harness) => harness.waitForPod(await harness.pod(), 'is Running', isRunning);
const clones = async (harness: Harness): Promise<string[]> =>
  (await readdir(join(harness.tart.home, 'vms'))).filter((name) => name.startsWith('runners-'));

describe('the VM slots of a Mac', { timeout: 120_000 }, () => {
  it('keep a third Pod waiting, with a reason and without a clone, until one is free (INC-41)', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const [first] = await Promise.all([running(harness), running(harness)]);
      const third = await harness.pod();
      const waiting = await harness.waitForPod(third, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
      assert.match(
        waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
        /2 virtual machines run or start on this Mac, and it can run 2/,
      );
      assert.equal((await clones(harness)).length, 2);
      await runInGuest(harness, vmNameOf(first), 'shutdown -h now');
      await harness.waitForPod(third, 'is Running', isRunning);
      assert.equal(harness.tart.journal.calls('run').length, 3);
    }));

  it('are also used by VMs that the agent did not start (INC-41)', () =>
    withMac(
      async (harness) => {
        harness.tart.addVm('bake');
        await harness.driver.run('bake', { logFile: join(harness.folder, 'bake.log') });
        await eventually('it is on', async () => (await harness.runningVms()).includes('bake'));
        harness.startAgent();
        await running(harness);
        const second = await harness.pod();
        await harness.waitForPod(second, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        await harness.driver.stop('bake', { timeoutSeconds: 1 });
        await harness.waitForPod(second, 'is Running', isRunning);
        assert.ok((await readdir(join(harness.tart.home, 'vms'))).includes('bake'), 'nobody deletes what is not ours');
      },
      { speed: 10 },
    ));

  it('are counted again right before a start (INC-41)', () =>
    withMac(
      async (harness) => {
        harness.tart.addVm('bake');
        harness.startAgent((options) => ({
          ...options,
          tart: {
            ...options.tart,
            clone: async (source, name, more) => {
              if (name.startsWith('runners-')) {
                await harness.driver.run('bake', { logFile: join(harness.folder, 'bake.log') });
                await eventually('it is on', async () => (await harness.runningVms()).includes('bake'));
              }
              await options.tart.clone(source, name, more);
            },
          },
        }));
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        assert.equal((await clones(harness)).length, 1);
        assert.deepEqual(await harness.runningVms(), ['bake']);
        await harness.driver.stop('bake', { timeoutSeconds: 1 });
        await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(harness.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(harness.tart.journal.calls('set').length, 1, 'it was ready all the time');
      },
      { speed: 10, vmSlots: 1 },
    ));

  it('are counted after the wait for a console session, which may take half a minute (INC-41)', () =>
    withMac(
      async (stage) => {
        stage.tart.addVm('bake');
        stage.session = async () => {
          await stage.driver.run('bake', { logFile: join(stage.folder, 'bake.log') });
          await eventually('it is on', async () => (await stage.runningVms()).includes('bake'));
        };
        stage.startAgent();
        await stage.waitForPod(await stage.pod(), 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        assert.deepEqual(await stage.runningVms(), ['bake']);
      },
      { speed: 10, vmSlots: 1 },
    ));

  it('that macOS refuses leave one clone that is retried, not many', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.host({ limit: 0 });
        harness.startAgent();
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'is refused', (seen) => waitingReason(seen) === 'TartCreateFailed');
        await eventually('it was tried again', () => harness.tart.journal.calls('run').length >= 3);
        assert.deepEqual((await clones(harness)).length, 1);
        harness.tart.controls.host({ limit: undefined });
        const seen = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(await clones(harness), [vmNameOf(seen)]);
        assert.equal(harness.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(seen.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));
});

describe('a Mac with a full disk', { timeout: 120_000 }, () => {
  it('collects garbage when a clone fails for lack of space, and retries the clone (B2)', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        await running(harness);
        const [noRoom] = noSpaceTexts;
        harness.tart.controls.command('clone', { answer: { code: 1, stderr: noRoom, times: 1 } });
        const before = harness.tart.journal.calls('clone').length;
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(harness.tart.journal.calls('clone').length - before, 2);
        assert.ok(!eventReasonsOf(harness, pod).includes('Failed'), 'no event is emitted');
      },
      { disableVMGC: false },
    ));
});

describe('a Pod that cannot run on a Mac', { timeout: 120_000 }, () => {
  it('of a DaemonSet that is not for Macs stays Pending with the reason, and takes no slot (INC-74, INC-41)', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const daemon = await harness.pod((spec, pod) => {
        pod.metadata = {
          ...pod.metadata,
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'uid-of-logs' }],
        };
        spec.tolerations = [{ operator: 'Exists' }];
      });
      const linux = await harness.pod((spec) => {
        spec.os = { name: 'linux' };
      });
      for (const one of [daemon, linux]) {
        const left = await harness.waitForPod(one, 'is left', (seen) => waitingReason(seen) === 'NotForMacs');
        assert.deepEqual([left.status?.phase, left.status?.reason], ['Pending', 'NotForMacs']);
        assert.deepEqual([...new Set(eventReasonsOf(harness, one))], ['NotForMacs']);
        assert.deepEqual(left.metadata.finalizers ?? [], []);
      }
      await Promise.all([running(harness), running(harness)]);
      await harness.deletePod(daemon);
      await harness.waitForPod(daemon, 'is gone', isGone);
    }));

  it('that asks for a Mac is rejected, with an event and a status that say what to change', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const pod = await harness.pod((spec) => {
        spec.containers = [...spec.containers, { name: 'beside', image: 'ghcr.io/example/macos:26' }];
      });
      const rejected = await harness.waitForPod(pod, 'is rejected', hasEnded);
      assert.deepEqual([rejected.status?.phase, rejected.status?.reason], ['Failed', 'UnsupportedPod']);
      assert.match(rejected.status?.message ?? '', /Make them Pods of their own/);
      const [event] = harness.events.filter((one) => one.podName === pod.metadata.name);
      assert.deepEqual([event?.type, event?.reason], ['Warning', 'UnsupportedPod']);
      assert.deepEqual(harness.tart.journal.calls(), []);
    }));
});
