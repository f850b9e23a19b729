import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../runs/testing/eventually.ts';
import { endOf, toldOf, vmOf, waitsFor } from './testing/looks.ts';
import { hasEnded, isRunning, onMac, type Stage } from './testing/stage.ts';

const podWith = (stage: Stage, activeDeadlineSeconds: number) =>
  stage.pod((spec) => void (spec.activeDeadlineSeconds = activeDeadlineSeconds));
const isOff = (stage: Stage) => eventually('nothing is on', async () => (await stage.live()).length === 0);

describe('a Pod with activeDeadlineSeconds', { timeout: 120_000 }, () => {
  it('is ended when it runs for longer: the guest is asked first, the Pod fails, and its slot is free', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await podWith(stage, 40);
        const waiting = await stage.pod();
        await stage.until(pod, 'is Running', isRunning);
        const second = await stage.until(waiting, 'is Running', isRunning);
        const third = await stage.pod();
        await stage.until(third, 'waits', (seen) => waitsFor(seen) === 'WaitingForSlot');
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.match(ended.status?.message ?? '', /activeDeadlineSeconds, 40 s/);
        assert.deepEqual([endOf(ended)?.exitCode, endOf(ended)?.reason], [143, 'DeadlineExceeded']);
        assert.ok(toldOf(stage, pod).includes('DeadlineExceeded'));
        assert.equal(stage.tart.journal.calls('stop').length, 0, 'the guest has shut itself down');
        const next = await stage.until(third, 'is Running', isRunning);
        assert.deepEqual([...(await stage.live())].sort(), [vmOf(second), vmOf(next)].sort());
      },
      { speed: 10 },
    ));

  it('is ended by the next agent too, whatever its restart policy', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.activeDeadlineSeconds = 60;
          spec.restartPolicy = 'Always';
        });
        await stage.until(pod, 'is Running', isRunning);
        await stage.stop();
        const overdue = stage.clock.now() + 70_000;
        await eventually('its time is over', async () => stage.clock.now() > overdue);
        stage.start();
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        await isOff(stage);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('is ended while it waits for a slot', () =>
    onMac(
      async (stage) => {
        stage.start();
        await stage.until(await stage.pod(), 'is Running', isRunning);
        const pod = await podWith(stage, 30);
        await stage.until(pod, 'waits', (seen) => waitsFor(seen) === 'WaitingForSlot');
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20, vmSlots: 1 },
    ));

  it('is ended while its image is fetched, and while its start is refused', () =>
    onMac(
      async (stage) => {
        const slow = 'ghcr.io/example/slow:1';
        stage.tart.controls.image(slow, { digest: `sha256:${'c'.repeat(64)}`, stallAt: 40 });
        stage.tart.controls.host({ keychain: 'locked' });
        stage.start();
        const pods = await Promise.all([
          stage.pod((spec) => {
            spec.activeDeadlineSeconds = 30;
            spec.containers = [{ name: 'runner', image: slow }];
          }),
          podWith(stage, 30),
        ]);
        for (const pod of pods) {
          const ended = await stage.until(pod, 'has ended', hasEnded);
          assert.deepEqual([ended.status?.phase, ended.status?.reason], ['Failed', 'DeadlineExceeded']);
          await stage.until(pod, 'is let go', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
        }
      },
      { speed: 20 },
    ));
});
