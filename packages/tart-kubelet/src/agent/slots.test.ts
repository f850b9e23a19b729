import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { noSpaceTexts } from '@tartan/sim-mac';
import { eventually } from '../runs/testing/eventually.ts';
import { inGuest, toldOf, vmOf, waitsFor } from './testing/looks.ts';
import { hasEnded, isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const running = async (stage: Stage) => stage.until(await stage.pod(), 'is Running', isRunning);
const clones = async (stage: Stage): Promise<string[]> =>
  (await readdir(join(stage.tart.home, 'vms'))).filter((name) => name.startsWith('runners-'));

describe('two virtual machines on a Mac', { timeout: 120_000 }, () => {
  it('make a third Pod wait with a reason and without a disk, until one of them ends (INC-41)', () =>
    onMac(async (stage) => {
      stage.start();
      const [first] = await Promise.all([running(stage), running(stage)]);
      const third = await stage.pod();
      const waiting = await stage.until(third, 'waits', (seen) => waitsFor(seen) === 'WaitingForSlot');
      assert.match(
        waiting.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
        /2 virtual machines run or start on this Mac, and it can run 2/,
      );
      assert.equal((await clones(stage)).length, 2);
      await inGuest(stage, vmOf(first), 'shutdown -h now');
      await stage.until(third, 'is Running', isRunning);
      assert.equal(stage.tart.journal.calls('run').length, 3);
    }));

  it('are two whoever started them: one of somebody else takes a slot too, until it ends (INC-41)', () =>
    onMac(
      async (stage) => {
        stage.tart.addVm('bake');
        await stage.driver.run('bake', { logFile: join(stage.folder, 'bake.log') });
        await eventually('it is on', async () => (await stage.live()).includes('bake'));
        stage.start();
        await running(stage);
        const second = await stage.pod();
        await stage.until(second, 'waits', (seen) => waitsFor(seen) === 'WaitingForSlot');
        await stage.driver.stop('bake', { timeoutSeconds: 1 });
        await stage.until(second, 'is Running', isRunning);
        assert.ok((await readdir(join(stage.tart.home, 'vms'))).includes('bake'), 'nobody deletes what is not ours');
      },
      { speed: 10 },
    ));

  it('are counted once more right before a start: one of somebody else that came during the clone goes first (INC-41)', () =>
    onMac(
      async (stage) => {
        stage.tart.addVm('bake');
        const isOn = Promise.withResolvers<void>();
        stage.start((options) => ({
          ...options,
          // What was seen before the clone is no use after it.
          recentProcesses: () => options.processes.list(),
          processes: {
            ...options.processes,
            list: async () => {
              await isOn.promise;
              return options.processes.list();
            },
          },
          tart: {
            ...options.tart,
            clone: async (source, name, more) => {
              if (name.startsWith('runners-')) {
                await stage.driver.run('bake', { logFile: join(stage.folder, 'bake.log') });
                await eventually('it is on', async () => (await stage.live()).includes('bake'));
                isOn.resolve();
              }
              await options.tart.clone(source, name, more);
            },
          },
        }));
        const pod = await stage.pod();
        await stage.until(pod, 'waits', (seen) => waitsFor(seen) === 'WaitingForSlot');
        assert.equal((await clones(stage)).length, 1);
        assert.deepEqual(await stage.live(), ['bake']);
        await stage.driver.stop('bake', { timeoutSeconds: 1 });
        await stage.until(pod, 'is Running', isRunning);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(stage.tart.journal.calls('set').length, 1, 'it was ready all the time');
      },
      { speed: 10, vmSlots: 1 },
    ));

  it('refused by macOS itself leave one clone that is tried again, not a disk full of them (INC-24)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ limit: 0 });
        stage.start();
        const pod = await stage.pod();
        await stage.until(pod, 'is refused', (seen) => waitsFor(seen) === 'TartCreateFailed');
        await eventually('it was tried again', () => stage.tart.journal.calls('run').length >= 3);
        assert.deepEqual((await clones(stage)).length, 1);
        stage.tart.controls.host({ limit: undefined });
        const seen = await stage.until(pod, 'is Running', isRunning);
        assert.deepEqual(await clones(stage), [vmOf(seen)]);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
        assert.equal(seen.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));
});

describe('a Mac whose disk is full', { timeout: 120_000 }, () => {
  it('collects when a clone finds no room, and clones once more, as if nothing had been (B2)', () =>
    onMac(
      async (stage) => {
        stage.start();
        await running(stage);
        const [noRoom] = noSpaceTexts;
        stage.tart.controls.command('clone', { answer: { code: 1, stderr: noRoom, times: 1 } });
        const before = stage.tart.journal.calls('clone').length;
        const pod = await stage.pod();
        await stage.until(pod, 'is Running', isRunning);
        assert.equal(stage.tart.journal.calls('clone').length - before, 2);
        assert.ok(!toldOf(stage, pod).includes('Failed'), 'nobody had to hear of it');
      },
      { disableVMGC: false },
    ));
});

describe('a Pod that came to a Mac and cannot be a virtual machine', { timeout: 120_000 }, () => {
  it('as one of a DaemonSet that is not for Macs stays Pending with the reason, and takes no slot (INC-74, INC-41)', () =>
    onMac(async (stage) => {
      stage.start();
      const daemon = await stage.pod((spec, pod) => {
        pod.metadata = {
          ...pod.metadata,
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'logs', uid: 'uid-of-logs' }],
        };
        spec.tolerations = [{ operator: 'Exists' }];
      });
      const linux = await stage.pod((spec) => {
        spec.os = { name: 'linux' };
      });
      for (const one of [daemon, linux]) {
        const left = await stage.until(one, 'is left', (seen) => waitsFor(seen) === 'NotForMacs');
        assert.deepEqual([left.status?.phase, left.status?.reason], ['Pending', 'NotForMacs']);
        assert.deepEqual([...new Set(toldOf(stage, one))], ['NotForMacs']);
        assert.deepEqual(left.metadata.finalizers ?? [], []);
      }
      await Promise.all([running(stage), running(stage)]);
      await stage.delete(daemon);
      await stage.until(daemon, 'is gone', isGone);
    }));

  it('although it was made for one is rejected, with an event and a status that say what to change', () =>
    onMac(async (stage) => {
      stage.start();
      const pod = await stage.pod((spec) => {
        spec.containers = [...spec.containers, { name: 'beside', image: 'ghcr.io/example/macos:26' }];
      });
      const rejected = await stage.until(pod, 'is rejected', hasEnded);
      assert.deepEqual([rejected.status?.phase, rejected.status?.reason], ['Failed', 'UnsupportedPod']);
      assert.match(rejected.status?.message ?? '', /Make them Pods of their own/);
      const [event] = stage.events.filter((one) => one.pod === pod.metadata.name);
      assert.deepEqual([event?.type, event?.reason], ['Warning', 'UnsupportedPod']);
      assert.deepEqual(stage.tart.journal.calls(), []);
    }));
});
