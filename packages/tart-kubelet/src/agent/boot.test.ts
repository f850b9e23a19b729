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
    withMac(async (harness) => {
      assert.deepEqual((await readdir(harness.folder)).sort(), ['bin', 'home']);
      harness.startAgent();
      await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
      const [{ argv } = { argv: [] }] = harness.tart.journal.calls('run');
      const flags = argv
        .slice(2)
        .filter((word) => word.startsWith('--'))
        .map((word) => word.replace(/=.*/s, ''));
      assert.deepEqual([...new Set(flags)].sort(), ['--dir', '--no-graphics', '--root-disk-opts']);
    }));

  it('waits for a console session with a clear reason, and continues when there is one (INC-06)', () =>
    withMac(
      async (harness) => {
        harness.session = () => Promise.reject(new Error('Nobody is logged in at the console. Check /etc/kcpassword.'));
        harness.startAgent();
        const pod = await harness.pod();
        const waiting = await harness.waitForPod(pod, 'waits', (seen) => waitingReason(seen) === 'TartCreateFailed');
        assert.deepEqual(
          [waiting.status?.phase, waiting.status?.reason, waiting.status?.message],
          ['Pending', 'TartCreateFailed', 'Nobody is logged in at the console. Check /etc/kcpassword.'],
        );
        assert.ok(eventReasonsOf(harness, pod).includes('Failed'));
        assert.equal(harness.tart.journal.calls('run').length, 0);
        harness.session = async () => {};
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(running.status?.reason, undefined);
        assert.equal(harness.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('is retried from the same clone when tart refuses it for lack of a session (INC-03, INC-06)', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.host({ guiSession: 'none' });
        harness.startAgent();
        const pod = await harness.pod();
        const refused = await harness.waitForPod(
          pod,
          'is refused',
          (seen) => waitingReason(seen) === 'TartCreateFailed',
        );
        assert.match(refused.status?.message ?? '', /HostKey/);
        harness.tart.controls.host({ guiSession: undefined });
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(running.status?.containerStatuses?.[0]?.restartCount, 0);
      },
      { speed: 20 },
    ));

  it('may take eight minutes: the VM is not destroyed, and no tart query blocks (INC-21)', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.guest('_', { bootHeld: true });
        harness.startAgent();
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'waits for its address', (seen) => waitingReason(seen) === 'WaitingForIP');
        await sleep(harness.clock, 8 * 60_000);
        await eventually('its address was asked for', () => harness.tart.journal.calls('ip').length > 2);
        harness.tart.controls.guest('_', { bootHeld: undefined });
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(running)]);
        assert.deepEqual(
          ['run', 'stop', 'delete'].map((command) => harness.tart.journal.calls(command).length),
          [1, 0, 0],
        );
        const asked = harness.tart.journal.calls('ip').slice(0, -1);
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
      async (harness) => {
        harness.tart.controls.host({ state: 'stale' });
        harness.startAgent();
        const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        const process = await processOf(harness, pod);
        await sleep(harness.clock, 300_000);
        await touchPod(harness, pod);
        assert.deepEqual(await processOf(harness, pod), process);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(pod)]);
        assert.equal(harness.tart.journal.calls('run').length, 1);
      },
      { speed: 300 },
    ));

  it('is reported as terminated at once when its process exits, although its lease is still there (INC-20, INC-22)', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
      process.kill((await processOf(harness, pod))?.pid ?? 0, 'SIGKILL');
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Failed', 137, 'TartRunFailed'],
      );
      assert.ok((await readdir(join(harness.tart.home, '.fake', 'leases'))).length > 0, 'the lease is there');
    }));

  it('has separate metrics for clone and boot', () =>
    withMac(async (harness) => {
      const measured: Record<string, number> = {};
      let startedAt = 0;
      let sinceStart = 0;
      harness.tart.controls.command('clone', { latencyMs: 1000 });
      harness.tart.controls.guest('_', { bootMs: 100 });
      harness.startAgent((options) => ({
        ...options,
        podMetrics: {
          provisioned: (_pod, _from, tookMs) => void (measured['clone'] = tookMs),
          starting: (_pod, delayMs) => {
            measured['wait'] = delayMs;
            startedAt = harness.clock.now();
          },
          booted: (_pod, tookMs) => {
            measured['boot'] = tookMs;
            sinceStart = harness.clock.now() - startedAt;
          },
        },
      }));
      await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
      await eventually('all was measured', () => Object.keys(measured).length === 3);
      const { clone = 0, wait = 0, boot = 0 } = measured;
      assert.ok(clone >= 900, `the clone took ${clone}`);
      assert.ok(boot >= 90 && boot <= sinceStart, `the boot took ${boot}, of ${sinceStart} since its start`);
      assert.ok(wait >= 2 * 900, `it waited ${wait} for both clones`);
    }));
});
