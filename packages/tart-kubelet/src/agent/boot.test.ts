import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '../runs/testing/eventually.ts';
import { endOf, nudge, processOf, toldOf, vmOf, waitsFor } from './testing/looks.ts';
import { hasEnded, isRunning, onMac } from './testing/stage.ts';

describe('the start of a virtual machine', { timeout: 120_000 }, () => {
  it('works on a Mac that has none of its folders yet, and says nothing that tart does not know (INC-05)', () =>
    onMac(async (stage) => {
      assert.deepEqual((await readdir(stage.folder)).sort(), ['bin', 'home']);
      stage.start();
      await stage.until(await stage.pod(), 'is Running', isRunning);
      const [{ argv } = { argv: [] }] = stage.tart.journal.calls('run');
      const flags = argv
        .slice(2)
        .filter((word) => word.startsWith('--'))
        .map((word) => word.replace(/=.*/s, ''));
      assert.deepEqual([...new Set(flags)].sort(), ['--dir', '--no-graphics', '--root-disk-opts']);
    }));

  it('without anybody at the console waits with the sentence of the session, and heals by itself (INC-06)', () =>
    onMac(
      async (stage) => {
        stage.session = () => Promise.reject(new Error('Nobody is logged in at the console. Check /etc/kcpassword.'));
        stage.start();
        const pod = await stage.pod();
        const waiting = await stage.until(pod, 'waits', (seen) => waitsFor(seen) === 'TartCreateFailed');
        assert.deepEqual(
          [waiting.status?.phase, waiting.status?.reason, waiting.status?.message],
          ['Pending', 'TartCreateFailed', 'Nobody is logged in at the console. Check /etc/kcpassword.'],
        );
        assert.ok(toldOf(stage, pod).includes('Failed'));
        assert.equal(stage.tart.journal.calls('run').length, 0);
        stage.session = async () => {};
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.equal(running.status?.reason, undefined);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('that tart refuses for lack of a session is no run: it is tried again from the same clean clone (INC-03, INC-06)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ guiSession: 'none' });
        stage.start();
        const pod = await stage.pod();
        const refused = await stage.until(pod, 'is refused', (seen) => waitsFor(seen) === 'TartCreateFailed');
        assert.match(refused.status?.message ?? '', /HostKey/);
        stage.tart.controls.host({ guiSession: undefined });
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.equal(running.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));

  it('of a guest that needs eight minutes ends in Running: nobody destroys it, and no question waits in tart (INC-21, G20)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.guest('_', { bootMs: 2000 });
        stage.start();
        const pod = await stage.pod();
        await stage.until(pod, 'waits for its address', (seen) => waitsFor(seen) === 'WaitingForIP');
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.deepEqual(await stage.live(), [vmOf(running)]);
        assert.deepEqual(
          ['run', 'stop', 'delete'].map((command) => stage.tart.journal.calls(command).length),
          [1, 0, 0],
        );
        const asked = stage.tart.journal.calls('ip').slice(0, -1);
        assert.ok(asked.length > 1);
        for (const { argv } of asked) assert.ok(!argv.includes('--wait') || argv.includes('0'), argv.join(' '));
        assert.ok(
          asked.every(({ exitCode }) => exitCode !== undefined),
          'each ended by itself',
        );
      },
      { speed: 240 },
    ));
});

describe('a virtual machine that is on', { timeout: 120_000 }, () => {
  it('while tart calls it stopped is left alone, and not made anew (INC-20)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ state: 'stale' });
        stage.start();
        const pod = await stage.until(await stage.pod(), 'is Running', isRunning);
        const process = await processOf(stage, pod);
        await sleep(stage.clock, 300_000, AbortSignal.timeout(10_000));
        await nudge(stage, pod);
        assert.deepEqual(await processOf(stage, pod), process);
        assert.deepEqual(await stage.live(), [vmOf(pod)]);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 300 },
    ));

  it('and dies is not Running because its lease is still there: its end is told at once (INC-19, INC-22)', () =>
    onMac(async (stage) => {
      stage.start();
      const pod = await stage.until(await stage.pod(), 'is Running', isRunning);
      process.kill((await processOf(stage, pod))?.pid ?? 0, 'SIGKILL');
      const since = performance.now();
      const ended = await stage.until(pod, 'has ended', hasEnded);
      assert.ok(performance.now() - since < 5_000);
      assert.deepEqual(
        [ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason],
        ['Failed', 137, 'TartRunFailed'],
      );
      assert.ok((await readdir(join(stage.tart.home, '.fake', 'leases'))).length > 0, 'the lease is there');
    }));

  it('was measured on its way there, each part by its name: the clone apart from the boot (G26)', () =>
    onMac(async (stage) => {
      const measured: Record<string, number> = {};
      let startedAt = 0;
      let sinceStart = 0;
      stage.tart.controls.command('clone', { latencyMs: 1000 });
      stage.tart.controls.guest('_', { bootMs: 100 });
      stage.start((options) => ({
        ...options,
        observer: {
          provisioned: (_pod, _from, tookMs) => void (measured['clone'] = tookMs),
          starting: (_pod, delayMs) => {
            measured['wait'] = delayMs;
            startedAt = stage.clock.now();
          },
          booted: (_pod, tookMs) => {
            measured['boot'] = tookMs;
            sinceStart = stage.clock.now() - startedAt;
          },
        },
      }));
      await stage.until(await stage.pod(), 'is Running', isRunning);
      await eventually('all was measured', () => Object.keys(measured).length === 3);
      const { clone = 0, wait = 0, boot = 0 } = measured;
      assert.ok(clone >= 900, `the clone took ${clone}`);
      assert.ok(boot >= 90 && boot <= sinceStart, `the boot took ${boot}, of ${sinceStart} since its start`);
      assert.ok(wait >= 2 * 900, `it waited ${wait} for both clones`);
    }));
});
