import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endOf, restartsOf, waitsFor } from './testing/looks.ts';
import { hasEnded, isGone, isRunning, onMac } from './testing/stage.ts';

/** Fails with 3 until its run of this number, and with 99 on a disk that was used before. */
const failsUntil = (run: number): string => `
  n=$(cat ../../../.fake/runs 2>/dev/null || echo 0); echo $((n + 1)) >../../../.fake/runs
  code=3; [ "$n" -lt ${run} ] || code=0; [ ! -e used ] || code=99
  : >used
  echo $code >"Volumes/My Shared Files/status/runner-rc"
  shutdown -h now`;

describe('a Pod that is to be started again', { timeout: 120_000 }, () => {
  it('OnFailure runs until it succeeds: from a clean clone each time, with a back-off, counted, and never Pending again', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.guest('_', { program: failsUntil(3) });
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.restartPolicy = 'OnFailure';
        });
        const phases: string[] = [];
        let backedOff: unknown;
        const ended = await stage.until(pod, 'has ended', (seen) => {
          const { phase = '' } = seen?.status ?? {};
          if (phase !== phases.at(-1)) phases.push(phase);
          if (waitsFor(seen) === 'CrashLoopBackOff')
            backedOff = seen?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode;
          return hasEnded(seen);
        });
        assert.deepEqual(phases, ['Pending', 'Running', 'Succeeded']);
        assert.equal(backedOff, 3, 'it waited, and said how the last run ended');
        assert.deepEqual([endOf(ended)?.exitCode, endOf(ended)?.reason, restartsOf(ended)], [0, 'Completed', 3]);
        const before = ended.status?.containerStatuses?.[0]?.lastState?.terminated;
        assert.equal(before?.exitCode, 3);
        const pausedMs = Date.parse(endOf(ended)?.startedAt ?? '') - Date.parse(before?.finishedAt ?? '');
        assert.ok(pausedMs >= 19_000, `it waited for ${pausedMs} ms`);
        assert.equal(stage.tart.journal.calls('clone').length, 5, 'the base, and one for each run');
        const macs = stage.tart.journal.calls('set').filter(({ argv }) => argv.includes('--random-mac'));
        assert.equal(macs.length, 4);
      },
      { speed: 10 },
    ));

  it('Always runs again after a success too; deleted while it backs off, it is gone at once', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.guest('_', { program: failsUntil(0) });
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.restartPolicy = 'Always';
        });
        await stage.until(pod, 'backs off', (seen) => waitsFor(seen) === 'CrashLoopBackOff' && restartsOf(seen) >= 2);
        const runs = stage.tart.journal.calls('run').length;
        await stage.delete(pod);
        await stage.until(pod, 'is gone', isGone);
        assert.equal(stage.tart.journal.calls('run').length, runs);
      },
      { speed: 5 },
    ));

  it('runs again when its VM crashed while no agent was there: the next run is another one (G7)', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.restartPolicy = 'OnFailure';
        });
        await stage.until(pod, 'is Running', isRunning);
        await stage.stop();
        stage.tart.unplug();
        stage.start();
        const seen = await stage.until(
          pod,
          'runs again',
          (one) => restartsOf(one) === 1 && waitsFor(one) === undefined,
        );
        assert.equal(seen.status?.phase, 'Running');
        assert.equal(stage.tart.journal.calls('clone').length, 3);
      },
      { speed: 10 },
    ));
});
