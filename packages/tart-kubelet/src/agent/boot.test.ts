import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { hasEnded, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, processOf, terminatedState, touchPod, vmNameOf, waitingReason } from './testing/pod-checks.ts';

describe('the start of a virtual machine', { timeout: 120_000 }, () => {
  it('works on a Mac without any folders of the agent, with arguments that tart knows (INC-05)', () =>
    withMac(async (stage) => {
      assert.deepEqual((await readdir(stage.folder)).sort(), ['bin', 'home']);
      stage.startAgent();
      await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
      const [{ argv } = { argv: [] }] = stage.tart.journal.calls('run');
      const flags = argv
        .slice(2)
        .filter((word) => word.startsWith('--'))
        .map((word) => word.replace(/=.*/s, ''));
      assert.deepEqual([...new Set(flags)].sort(), ['--dir', '--no-graphics', '--root-disk-opts']);
    }));

  it('waits for a console session with a clear reason, and continues when there is one (INC-06)', () =>
    withMac(
      async (stage) => {
        stage.session = () => Promise.reject(new Error('Nobody is logged in at the console. Check /etc/kcpassword.'));
        stage.startAgent();
        const pod = await stage.pod();
        const waiting = await stage.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'TartCreateFailed');
        assert.deepEqual(
          [waiting.status?.phase, waiting.status?.reason, waiting.status?.message],
          ['Pending', 'TartCreateFailed', 'Nobody is logged in at the console. Check /etc/kcpassword.'],
        );
        assert.ok(eventReasonsOf(stage, pod).includes('Failed'));
        assert.equal(stage.tart.journal.calls('run').length, 0);
        stage.session = async () => {};
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(running.status?.reason, undefined);
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('is retried from the same clone when tart refuses it for lack of a session (INC-03, INC-06)', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ guiSession: 'none' });
        stage.startAgent();
        const pod = await stage.pod();
        const refused = await stage.waitForPod(pod, 'is refused', (seen) => waitingReason(seen) === 'TartCreateFailed');
        assert.match(refused.status?.message ?? '', /HostKey/);
        stage.tart.controls.host({ guiSession: undefined });
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(running.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));

  it('may take eight minutes: the VM is not destroyed, and no tart query blocks (INC-21)', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.guest('_', { bootHeld: true });
        stage.startAgent();
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'waits for its address', (seen) => waitingReason(seen) === 'WaitingForIP');
        await sleep(stage.clock, 8 * 60_000);
        await eventually('its address was asked for', () => stage.tart.journal.calls('ip').length > 2);
        stage.tart.controls.guest('_', { bootHeld: undefined });
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(await stage.runningVms(), [vmNameOf(running)]);
        assert.deepEqual(
          ['run', 'stop', 'delete'].map((command) => stage.tart.journal.calls(command).length),
          [1, 0, 0],
        );
        const asked = stage.tart.journal.calls('ip').slice(0, -1);
        for (const { argv } of asked) assert.ok(!argv.includes('--wait') || argv.includes('0'), argv.join(' '));
        assert.ok(
          asked.every(({ exitCode }) => exitCode !== undefined),
          'each ended by itself',
        );
      },
      { speed: 240 },
    ));
});

describe('a running virtual machine', { timeout: 120_000 }, () => {
  it('is left alone while tart reports it as stopped (INC-20)', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ state: 'stale' });
        stage.startAgent();
        const pod = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        const process = await processOf(stage, pod);
        await sleep(stage.clock, 300_000);
        await touchPod(stage, pod);
        assert.deepEqual(await processOf(stage, pod), process);
        assert.deepEqual(await stage.runningVms(), [vmNameOf(pod)]);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 300 },
    ));

  it('is reported as terminated at once when its process exits, although its lease is still there (INC-20, INC-22)', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const pod = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
      process.kill((await processOf(stage, pod))?.pid ?? 0, 'SIGKILL');
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Failed', 137, 'TartRunFailed'],
      );
      assert.ok((await readdir(join(stage.tart.home, '.fake', 'leases'))).length > 0, 'the lease is there');
    }));

  it('has separate metrics for clone and boot', () =>
    withMac(async (stage) => {
      const measured: Record<string, number> = {};
      let startedAt = 0;
      let sinceStart = 0;
      stage.tart.controls.command('clone', { latencyMs: 1000 });
      stage.tart.controls.guest('_', { bootMs: 100 });
      stage.startAgent((options) => ({
        ...options,
        podMetrics: {
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
      await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
      await eventually('all was measured', () => Object.keys(measured).length === 3);
      const { clone = 0, wait = 0, boot = 0 } = measured;
      assert.ok(clone >= 900, `the clone took ${clone}`);
      assert.ok(boot >= 90 && boot <= sinceStart, `the boot took ${boot}, of ${sinceStart} since its start`);
      assert.ok(wait >= 2 * 900, `it waited ${wait} for both clones`);
    }));
});
