import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, hasEnded, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, terminatedState, vmNameOf, waitingReason } from './testing/pod-checks.ts';

/** Far longer than any test takes: it is over when a test says so. */
const deadlineSeconds = 600;
const podWithDeadline = (harness: Harness, change: Partial<NonNullable<Pod['spec']>> = {}) =>
  harness.pod((spec) => void Object.assign(spec, { activeDeadlineSeconds: deadlineSeconds, ...change }));
const passDeadline = ({ clock }: Harness): void => clock.advance(1000 * deadlineSeconds);

describe('a Pod with activeDeadlineSeconds', { timeout: 120_000 }, () => {
  it('is shut down gracefully at its deadline, fails, and frees its slot', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const pod = await podWithDeadline(harness, { terminationGracePeriodSeconds: 600 });
      const waiting = await harness.pod();
      await harness.waitForPod(pod, 'is Running', isRunning);
      const second = await harness.waitForPod(waiting, 'is Running', isRunning);
      const third = await harness.pod();
      await harness.waitForPod(third, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
      passDeadline(harness);
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
      assert.match(ended.status?.message ?? '', /activeDeadlineSeconds, 600 s/);
      assert.deepEqual([terminatedState(ended)?.exitCode, terminatedState(ended)?.reason], [143, 'DeadlineExceeded']);
      assert.ok(eventReasonsOf(harness, pod).includes('DeadlineExceeded'));
      assert.equal(harness.tart.journal.calls('stop').length, 0, 'the guest has shut itself down');
      const next = await harness.waitForPod(third, 'is Running', isRunning);
      assert.deepEqual([...(await harness.runningVms())].sort(), [vmNameOf(second), vmNameOf(next)].sort());
    }));

  it('is stopped by a restarted agent too, whatever its restart policy', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const pod = await podWithDeadline(harness, { restartPolicy: 'Always' });
      await harness.waitForPod(pod, 'is Running', isRunning);
      await harness.stopAgent();
      passDeadline(harness);
      harness.startAgent();
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
      await eventually('nothing is on', async () => (await harness.runningVms()).length === 0);
      assert.equal(harness.tart.journal.calls('run').length, 1);
    }));

  it('fails while it waits for a slot', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        const pod = await podWithDeadline(harness);
        await harness.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'WaitingForSlot');
        passDeadline(harness);
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.equal(harness.tart.journal.calls('run').length, 1);
      },
      { vmSlots: 1 },
    ));

  it('fails while its image is pulled, and while its start is refused', () =>
    withMac(async (harness) => {
      const slow = 'ghcr.io/example/slow:1';
      harness.tart.controls.image(slow, { digest: `sha256:${'c'.repeat(64)}`, stallAt: 40 });
      harness.tart.controls.host({ keychain: 'locked' });
      harness.startAgent();
      const refused = await podWithDeadline(harness);
      await harness.waitForPod(refused, 'is refused', (seen) => waitingReason(seen) === 'TartCreateFailed');
      const pulled = await podWithDeadline(harness, { containers: [{ name: 'runner', image: slow }] });
      await harness.waitForPod(pulled, 'is pulled', (seen) => waitingReason(seen) === 'Pulling 40 %');
      passDeadline(harness);
      for (const pod of [pulled, refused]) {
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        await harness.waitForPod(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
      }
    }));
});
