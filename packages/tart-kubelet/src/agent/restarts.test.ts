import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { restartsOf, terminatedState, waitingReason } from './testing/pod-checks.ts';

/** Fails with 3 before run number `run`, and with 99 on a used disk. */
const failsUntil = (run: number): string => `
  n=$(cat ../../../.fake/runs 2>/dev/null || echo 0); echo $((n + 1)) >../../../.fake/runs
  code=3; [ "$n" -lt ${run} ] || code=0; [ ! -e used ] || code=99
  : >used
  echo $code >"Volumes/My Shared Files/status/runner-rc"
  shutdown -h now`;

describe('a Pod that restarts', { timeout: 120_000 }, () => {
  it('OnFailure: restarts from a clean clone, with back-off and restartCount, and is never Pending again', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.guest('_', { program: failsUntil(3) });
        harness.startAgent();
        const pod = await harness.pod((spec) => {
          spec.restartPolicy = 'OnFailure';
        });
        const phases: string[] = [];
        let backedOff: unknown;
        const ended = await harness.waitForPod(pod, 'has ended', (seen) => {
          const { phase = '' } = seen?.status ?? {};
          if (phase !== phases.at(-1)) phases.push(phase);
          if (waitingReason(seen) === 'CrashLoopBackOff')
            backedOff = seen?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode;
          return hasEnded(seen);
        });
        assert.deepEqual(phases, ['Pending', 'Running', 'Succeeded']);
        assert.equal(backedOff, 3, 'it waited, and said how the last run ended');
        assert.deepEqual(
          [terminatedState(ended)?.exitCode, terminatedState(ended)?.reason, restartsOf(ended)],
          [0, 'Completed', 3],
        );
        const before = ended.status?.containerStatuses?.[0]?.lastState?.terminated;
        assert.equal(before?.exitCode, 3);
        const pausedMs = Date.parse(terminatedState(ended)?.startedAt ?? '') - Date.parse(before?.finishedAt ?? '');
        assert.ok(pausedMs >= 19_000, `it waited for ${pausedMs} ms`);
        assert.equal(harness.tart.journal.calls('clone').length, 5, 'the base, and one for each run');
        const macs = harness.tart.journal.calls('set').filter(({ argv }) => argv.includes('--random-mac'));
        assert.equal(macs.length, 4);
      },
      { speed: 10 },
    ));

  it('Always: restarts after success too; deletion during back-off is immediate', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.guest('_', { program: failsUntil(0) });
        harness.startAgent();
        const pod = await harness.pod((spec) => {
          spec.restartPolicy = 'Always';
        });
        await harness.waitForPod(
          pod,
          'backs off',
          (seen) => waitingReason(seen) === 'CrashLoopBackOff' && restartsOf(seen) >= 2,
        );
        const runs = harness.tart.journal.calls('run').length;
        await harness.deletePod(pod);
        await harness.waitForPod(pod, 'is gone', isGone);
        assert.equal(harness.tart.journal.calls('run').length, runs);
      },
      { speed: 5 },
    ));

  it('restarts with a new run when its VM crashed while the agent was down (INC-407)', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await harness.pod((spec) => {
          spec.restartPolicy = 'OnFailure';
        });
        await harness.waitForPod(pod, 'is Running', isRunning);
        await harness.stopAgent();
        harness.tart.powerOff();
        harness.startAgent();
        const seen = await harness.waitForPod(
          pod,
          'runs again',
          (one) => restartsOf(one) === 1 && waitingReason(one) === undefined,
        );
        assert.equal(seen.status?.phase, 'Running');
        assert.equal(harness.tart.journal.calls('clone').length, 3);
      },
      { speed: 10 },
    ));
});
