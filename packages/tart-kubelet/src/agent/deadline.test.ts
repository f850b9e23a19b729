import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { type Harness, hasEnded, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, terminatedState, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const podWith = (stage: Harness, activeDeadlineSeconds: number) =>
  stage.pod((spec) => void (spec.activeDeadlineSeconds = activeDeadlineSeconds));
const isOff = (stage: Harness) => eventually('nothing is on', async () => (await stage.runningVms()).length === 0);

describe('a Pod with activeDeadlineSeconds', { timeout: 120_000 }, () => {
  it('is shut down gracefully at its deadline, fails, and frees its slot', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await podWith(stage, 40);
        const waiting = await stage.pod();
        await stage.waitForPod(pod, 'is Running', isRunning);
        const second = await stage.waitForPod(waiting, 'is Running', isRunning);
        const third = await stage.pod();
        await stage.waitForPod(third, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.match(ended.status?.message ?? '', /activeDeadlineSeconds, 40 s/);
        assert.deepEqual([terminatedState(ended)?.exitCode, terminatedState(ended)?.reason], [143, 'DeadlineExceeded']);
        assert.ok(eventReasonsOf(stage, pod).includes('DeadlineExceeded'));
        assert.equal(stage.tart.journal.calls('stop').length, 0, 'the guest has shut itself down');
        const next = await stage.waitForPod(third, 'is Running', isRunning);
        assert.deepEqual([...(await stage.runningVms())].sort(), [vmNameOf(second), vmNameOf(next)].sort());
      },
      { speed: 10 },
    ));

  it('is stopped by a restarted agent too, whatever its restart policy', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await stage.pod((spec) => {
          spec.activeDeadlineSeconds = 60;
          spec.restartPolicy = 'Always';
        });
        await stage.waitForPod(pod, 'is Running', isRunning);
        await stage.stopAgent();
        const overdue = stage.clock.now() + 70_000;
        await eventually('its time is over', async () => stage.clock.now() > overdue);
        stage.startAgent();
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        await isOff(stage);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('fails while it waits for a slot', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        const pod = await podWith(stage, 30);
        await stage.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20, vmSlots: 1 },
    ));

  it('fails while its image is pulled, and while its start is refused', () =>
    withMac(
      async (stage) => {
        const slow = 'ghcr.io/example/slow:1';
        stage.tart.controls.image(slow, { digest: `sha256:${'c'.repeat(64)}`, stallAt: 40 });
        stage.tart.controls.host({ keychain: 'locked' });
        stage.startAgent();
        const pods = await Promise.all([
          stage.pod((spec) => {
            spec.activeDeadlineSeconds = 30;
            spec.containers = [{ name: 'runner', image: slow }];
          }),
          podWith(stage, 30),
        ]);
        for (const pod of pods) {
          const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
          assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
          await stage.waitForPod(pod, 'is let go', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
        }
      },
      { speed: 20 },
    ));
});
