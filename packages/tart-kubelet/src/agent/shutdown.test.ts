import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Live } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import type { Pod } from '../pods/snapshot.ts';
import { endOf, toldOf, vmOf } from './testing/looks.ts';
import { isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const started = async (stage: Stage) => {
  stage.start();
  return stage.until(await stage.pod(), 'is Running', isRunning);
};
/** Deletes it, and gives the last that was seen of its end. */
const ended = async (stage: Stage, pod: Live<Pod>, graceSeconds: number) => {
  let last: ReturnType<typeof endOf>;
  await stage.delete(pod, graceSeconds);
  await stage.until(pod, 'is gone', (seen) => {
    last = endOf(seen) ?? last;
    return isGone(seen);
  });
  return last;
};
const asked = ({ tart }: Stage): number =>
  tart.journal.calls('exec').filter(({ argv }) => argv.some((word) => word.includes('shutdown'))).length;

describe('the end of a guest whose Pod is deleted', { timeout: 120_000 }, () => {
  it('is a shutdown of its own, nobody cuts its power meanwhile, and then the deletion is confirmed (INC-14)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      stage.tart.controls.guest(vmOf(pod), { shutdownTakesMs: 600 });
      const end = await ended(stage, pod, 30);
      assert.deepEqual([end?.exitCode, end?.reason], [0, 'TartRunExited']);
      assert.deepEqual([asked(stage), stage.tart.journal.calls('stop').length], [1, 0]);
      assert.equal(toldOf(stage, pod).filter((reason) => reason === 'Killing').length, 1);
    }));

  it('is a power cut when its time is over and it has not listened; that is no success', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.guest(vmOf(pod), { shutdown: 'ignored', stuck: true });
        const since = stage.clock.monotonic();
        const end = await ended(stage, pod, 10);
        assert.ok(stage.clock.monotonic() - since >= 9_000, 'it had its time');
        assert.equal(end?.reason, 'TartRunFailed');
        assert.notEqual(end?.exitCode, 0);
        assert.deepEqual([asked(stage), stage.tart.journal.calls('stop').length], [1, 1]);
      },
      { speed: 10 },
    ));

  it('is a power cut at once when nobody in there can be asked', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      stage.tart.controls.guest(vmOf(pod), { agent: 'absent' });
      const end = await ended(stage, pod, 3600);
      assert.equal(end?.reason, 'TartRunFailed');
      assert.deepEqual(await stage.live(), []);
    }));

  it('is an end although tart calls it stopped: the process counts, not the state (INC-20)', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.host({ state: 'stale' });
        await ended(stage, pod, 0);
        assert.deepEqual(await stage.live(), []);
      },
      { speed: 10 },
    ));

  it('does not begin anew with an agent that comes back: its time is counted once', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.guest(vmOf(pod), { shutdown: 'ignored' });
        await stage.delete(pod, 30);
        while (asked(stage) === 0) await setTimeout(10);
        await stage.stop();
        await sleep(stage.clock, 31_000, AbortSignal.timeout(10_000));
        stage.start();
        await stage.until(pod, 'is gone', isGone);
        assert.equal(asked(stage), 1);
      },
      { speed: 20 },
    ));
});
