import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, restartsOf, runInGuest, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const isRefused = (pod: Live<Pod> | undefined): boolean => waitingReason(pod) === 'TartCreateFailed';
const verdict = async ({ startRecorder }: Harness): Promise<string> => (await startRecorder.health()).kind;
const untilVerdict = (harness: Harness, kind: string): Promise<true> =>
  eventually(`the verdict is ${kind}`, async () => (await verdict(harness)) === kind);
const refusesStarts = { code: 1, stderr: 'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start."' };
const runToEnd = async (harness: Harness): Promise<void> => {
  const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
  await runInGuest(harness, vmNameOf(pod), 'shutdown -h now');
  await harness.waitForPod(pod, 'has ended', hasEnded);
  await eventually('it is off', async () => (await harness.runningVms()).length === 0);
};

describe('a VM that the Mac refuses to start', { timeout: 120_000 }, () => {
  it('keeps its Pod waiting while the login keychain is locked; the Mac is unhealthy until a start works, also for a restarted agent', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.host({ keychain: 'locked' });
        harness.startAgent();
        const pod = await harness.pod();
        const refused = await harness.waitForPod(pod, 'is refused', isRefused);
        assert.equal(refused.status?.phase, 'Pending');
        assert.match(refused.status?.message ?? '', /The virtual machine failed to start/);
        await untilVerdict(harness, 'refused');
        assert.ok(eventReasonsOf(harness, pod).includes('Failed'));
        await harness.stopAgent();
        harness.startAgent();
        assert.equal(await verdict(harness), 'refused');
        harness.tart.controls.host({ keychain: undefined });
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(restartsOf(running), 0);
        await untilVerdict(harness, 'works');
        assert.equal(harness.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('no longer counts after a reboot of the Mac', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.host({ keychain: 'locked' });
        harness.startAgent();
        const pod = await harness.pod();
        await untilVerdict(harness, 'refused');
        await harness.stopAgent();
        harness.bootID = 'boot-2';
        harness.tart.controls.host({ keychain: undefined });
        harness.startAgent();
        assert.equal(await verdict(harness), 'works');
        await harness.waitForPod(pod, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('is blamed on its image when other images start: its Pod waits without a slot, and the Mac stays healthy', () =>
    withMac(
      async (harness) => {
        const broken = 'ghcr.io/example/broken:1';
        harness.tart.controls.image(broken, { digest: `sha256:${'b'.repeat(64)}` });
        harness.startAgent();
        await runToEnd(harness);
        harness.tart.controls.command('run', { answer: refusesStarts });
        const refused = await Promise.all(
          ['a', 'b'].map(() =>
            harness.pod(({ containers: [container] }) => void (container && (container.image = broken))),
          ),
        );
        for (const pod of refused) await harness.waitForPod(pod, 'is refused', isRefused);
        await eventually('it was tried often', async () => harness.tart.journal.calls('run').length > 6);
        assert.equal(await verdict(harness), 'works');
        // While they back off, a later Pod gets a slot to try.
        const good = await harness.pod();
        await harness.waitForPod(good, 'is tried', isRefused);
        for (const pod of refused) await harness.deletePod(pod);
        harness.tart.controls.command('run', {});
        await harness.waitForPod(good, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('makes the Mac unhealthy when the console session is missing', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        await runToEnd(harness);
        harness.session = () => Promise.reject(new Error('Nobody is logged in at the console.'));
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'waits', isRefused);
        await untilVerdict(harness, 'refused');
        harness.session = async () => {};
        await harness.waitForPod(pod, 'is Running', isRunning);
        await untilVerdict(harness, 'works');
      },
      { speed: 20 },
    ));
});

describe('leaked VM slots of macOS', { timeout: 120_000 }, () => {
  it('are detected, keep Pods waiting, and are free again after a reboot', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.host({ leaksSlots: true });
        harness.startAgent();
        await runToEnd(harness);
        await runToEnd(harness);
        const pod = await harness.pod();
        const refused = await harness.waitForPod(pod, 'is refused', isRefused);
        assert.deepEqual(
          [refused.status?.phase, refused.status?.message],
          ['Pending', 'The number of VMs exceeds the system limit'],
        );
        await untilVerdict(harness, 'slots leaked');
        // Also without a Pod that retries.
        await harness.deletePod(pod);
        await harness.waitForPod(pod, 'is gone', isGone);
        assert.equal(await verdict(harness), 'slots leaked');
        await harness.stopAgent();
        harness.bootID = 'boot-2';
        harness.tart.controls.host({ leaksSlots: undefined });
        harness.tart.controls.reboot();
        harness.startAgent();
        assert.equal(await verdict(harness), 'works');
        await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('are detected while one of two VMs runs, until two run', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        harness.tart.controls.host({ limit: 1 });
        await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        await harness.waitForPod(await harness.pod(), 'is refused', isRefused);
        await untilVerdict(harness, 'slots leaked');
        harness.tart.controls.host({ limit: undefined });
        await untilVerdict(harness, 'works');
      },
      { speed: 20 },
    ));
});
