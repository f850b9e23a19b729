import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, hasEnded, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, terminatedState, vmNameOf, waitingReason } from './testing/pod-checks.ts';

/** Far longer than any test takes: it is over when a test says so. */
const deadlineSeconds = 600;
const podWithDeadline = (stage: Harness, change: Partial<NonNullable<Pod['spec']>> = {}) =>
  stage.pod((spec) => void Object.assign(spec, { activeDeadlineSeconds: deadlineSeconds, ...change }));
const passDeadline = ({ clock }: Harness): void => clock.advance(1000 * deadlineSeconds);

describe('a Pod with activeDeadlineSeconds', { timeout: 120_000 }, () => {
  it('is shut down gracefully at its deadline, fails, and frees its slot', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const pod = await podWithDeadline(stage, { terminationGracePeriodSeconds: 600 });
      const waiting = await stage.pod();
      await stage.waitForPod(pod, 'is Running', isRunning);
      const second = await stage.waitForPod(waiting, 'is Running', isRunning);
      const third = await stage.pod();
      await stage.waitForPod(third, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
      passDeadline(stage);
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
      assert.match(ended.status?.message ?? '', /activeDeadlineSeconds, 600 s/);
      assert.deepEqual([terminatedState(ended)?.exitCode, terminatedState(ended)?.reason], [143, 'DeadlineExceeded']);
      assert.ok(eventReasonsOf(stage, pod).includes('DeadlineExceeded'));
      assert.equal(stage.tart.journal.calls('stop').length, 0, 'the guest has shut itself down');
      const next = await stage.waitForPod(third, 'is Running', isRunning);
      assert.deepEqual([...(await stage.runningVms())].sort(), [vmNameOf(second), vmNameOf(next)].sort());
    }));

  it('is stopped by a restarted agent too, whatever its restart policy', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const pod = await podWithDeadline(stage, { restartPolicy: 'Always' });
      await stage.waitForPod(pod, 'is Running', isRunning);
      await stage.stopAgent();
      passDeadline(stage);
      stage.startAgent();
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
      await eventually('nothing is on', async () => (await stage.runningVms()).length === 0);
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));

  it('fails while it waits for a slot', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        const pod = await podWithDeadline(stage);
        await stage.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        passDeadline(stage);
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { vmSlots: 1 },
    ));

  it('fails while its image is pulled, and while its start is refused', () =>
    withMac(async (stage) => {
      const slow = 'ghcr.io/example/slow:1';
      stage.tart.controls.image(slow, { digest: `sha256:${'c'.repeat(64)}`, stallAt: 40 });
      stage.tart.controls.host({ keychain: 'locked' });
      stage.startAgent();
      const refused = await podWithDeadline(stage);
      await stage.waitForPod(refused, 'is refused', (seen) => waitingReason(seen) === 'TartCreateFailed');
      const pulled = await podWithDeadline(stage, { containers: [{ name: 'runner', image: slow }] });
      await stage.waitForPod(pulled, 'is pulled', (seen) => waitingReason(seen) === 'Pulling 40 %');
      passDeadline(stage);
      for (const pod of [pulled, refused]) {
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        await stage.waitForPod(pod, 'is let go', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
      }
    }));
});
