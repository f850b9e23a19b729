import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, terminatedState, vmNameOf } from './testing/pod-checks.ts';

const started = async (harness: Harness) => {
  harness.startAgent();
  return harness.waitForPod(await harness.pod(), 'is Running', isRunning);
};
/** Deletes the Pod, and returns its last seen terminated state. */
const ended = async (harness: Harness, pod: Live<Pod>, graceSeconds: number) => {
  let last: ReturnType<typeof terminatedState>;
  await harness.deletePod(pod, graceSeconds);
  await harness.waitForPod(pod, 'is gone', (seen) => {
    last = terminatedState(seen) ?? last;
    return isGone(seen);
  });
  return last;
};
const shutdownRequests = ({ tart }: Harness): number =>
  tart.journal.calls('exec').filter(({ argv }) => argv.some((word) => word.includes('shutdown'))).length;

describe('the shutdown of the guest of a deleted Pod', { timeout: 120_000 }, () => {
  it('is graceful, without a forced stop, and then the deletion is confirmed (INC-14)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      harness.tart.controls.guest(vmNameOf(pod), { shutdownTakesMs: 600 });
      const end = await ended(harness, pod, 600);
      assert.deepEqual([end?.exitCode, end?.reason], [0, 'TartRunExited']);
      assert.deepEqual([shutdownRequests(harness), harness.tart.journal.calls('stop').length], [1, 0]);
      assert.equal(eventReasonsOf(harness, pod).filter((reason) => reason === 'Killing').length, 1);
    }));

  it('is forced after the grace period, and is no success', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        harness.tart.controls.guest(vmNameOf(pod), { shutdown: 'ignored', stuck: true });
        const since = harness.clock.monotonic();
        const end = await ended(harness, pod, 10);
        assert.ok(harness.clock.monotonic() - since >= 9_000, 'it had its time');
        assert.equal(end?.reason, 'TartRunFailed');
        assert.notEqual(end?.exitCode, 0);
        assert.deepEqual([shutdownRequests(harness), harness.tart.journal.calls('stop').length], [1, 1]);
      },
      { speed: 10 },
    ));

  it('is forced at once when the guest agent is unreachable', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      harness.tart.controls.guest(vmNameOf(pod), { agent: 'absent' });
      const end = await ended(harness, pod, 3600);
      assert.equal(end?.reason, 'TartRunFailed');
      assert.deepEqual(await harness.runningVms(), []);
    }));

  it('ends the process although tart reports the VM as stopped (INC-20)', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        harness.tart.controls.host({ state: 'stale' });
        await ended(harness, pod, 0);
        assert.deepEqual(await harness.runningVms(), []);
      },
      { speed: 10 },
    ));

  it('keeps its grace period across a restart of the agent', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        harness.tart.controls.guest(vmNameOf(pod), { shutdown: 'ignored' });
        await harness.deletePod(pod, 30);
        await eventually('the guest is asked to shut down', () => shutdownRequests(harness) > 0);
        await harness.stopAgent();
        await sleep(harness.clock, 31_000);
        harness.startAgent();
        await harness.waitForPod(pod, 'is gone', isGone);
        assert.equal(shutdownRequests(harness), 1);
      },
      { speed: 20 },
    ));
});
