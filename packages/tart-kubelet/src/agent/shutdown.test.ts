import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, terminatedState, vmNameOf } from './testing/pod-checks.ts';

const started = async (stage: Harness) => {
  stage.startAgent();
  return stage.waitForPod(await stage.pod(), 'is Running', isRunning);
};
/** Deletes the Pod, and returns its last seen terminated state. */
const ended = async (stage: Harness, pod: Live<Pod>, graceSeconds: number) => {
  let last: ReturnType<typeof terminatedState>;
  await stage.deletePod(pod, graceSeconds);
  await stage.waitForPod(pod, 'is gone', (seen) => {
    last = terminatedState(seen) ?? last;
    return isGone(seen);
  });
  return last;
};
const shutdownRequests = ({ tart }: Harness): number =>
  tart.journal.calls('exec').filter(({ argv }) => argv.some((word) => word.includes('shutdown'))).length;

describe('the shutdown of the guest of a deleted Pod', { timeout: 120_000 }, () => {
  it('is graceful, without a forced stop, and then the deletion is confirmed (INC-14)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      stage.tart.controls.guest(vmNameOf(pod), { shutdownTakesMs: 600 });
      const end = await ended(stage, pod, 600);
      assert.deepEqual([end?.exitCode, end?.reason], [0, 'TartRunExited']);
      assert.deepEqual([shutdownRequests(stage), stage.tart.journal.calls('stop').length], [1, 0]);
      assert.equal(eventReasonsOf(stage, pod).filter((reason) => reason === 'Killing').length, 1);
    }));

  it('is forced after the grace period, and is no success', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.guest(vmNameOf(pod), { shutdown: 'ignored', stuck: true });
        const since = stage.clock.monotonic();
        const end = await ended(stage, pod, 10);
        assert.ok(stage.clock.monotonic() - since >= 9_000, 'it had its time');
        assert.equal(end?.reason, 'TartRunFailed');
        assert.notEqual(end?.exitCode, 0);
        assert.deepEqual([shutdownRequests(stage), stage.tart.journal.calls('stop').length], [1, 1]);
      },
      { speed: 10 },
    ));

  it('is forced at once when the guest agent is unreachable', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      stage.tart.controls.guest(vmNameOf(pod), { agent: 'absent' });
      const end = await ended(stage, pod, 3600);
      assert.equal(end?.reason, 'TartRunFailed');
      assert.deepEqual(await stage.runningVms(), []);
    }));

  it('ends the process although tart reports the VM as stopped (INC-20)', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.host({ state: 'stale' });
        await ended(stage, pod, 0);
        assert.deepEqual(await stage.runningVms(), []);
      },
      { speed: 10 },
    ));

  it('keeps its grace period across a restart of the agent', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.guest(vmNameOf(pod), { shutdown: 'ignored' });
        await stage.deletePod(pod, 30);
        await eventually('the guest is asked to shut down', () => shutdownRequests(stage) > 0);
        await stage.stopAgent();
        await sleep(stage.clock, 31_000);
        stage.startAgent();
        await stage.waitForPod(pod, 'is gone', isGone);
        assert.equal(shutdownRequests(stage), 1);
      },
      { speed: 20 },
    ));
});
