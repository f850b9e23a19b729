import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, restartsOf, runInGuest, vmNameOf, waitingReason } from './testing/pod-checks.ts';

const isRefused = (pod: Live<Pod> | undefined): boolean => waitingReason(pod) === 'TartCreateFailed';
const verdict = async ({ startRecorder }: Harness): Promise<string> => (await startRecorder.health()).kind;
const untilVerdict = (stage: Harness, kind: string): Promise<true> =>
  eventually(`the verdict is ${kind}`, async () => (await verdict(stage)) === kind);
const refusesStarts = { code: 1, stderr: 'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start."' };
const runToEnd = async (stage: Harness): Promise<void> => {
  const pod = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
  await runInGuest(stage, vmNameOf(pod), 'shutdown -h now');
  await stage.waitForPod(pod, 'has ended', hasEnded);
  await eventually('it is off', async () => (await stage.runningVms()).length === 0);
};

describe('a VM that the Mac refuses to start', { timeout: 120_000 }, () => {
  it('keeps its Pod waiting while the login keychain is locked; the Mac is unhealthy until a start works, also for a restarted agent', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ keychain: 'locked' });
        stage.startAgent();
        const pod = await stage.pod();
        const refused = await stage.waitForPod(pod, 'is refused', isRefused);
        assert.equal(refused.status?.phase, 'Pending');
        assert.match(refused.status?.message ?? '', /The virtual machine failed to start/);
        await untilVerdict(stage, 'refused');
        assert.ok(eventReasonsOf(stage, pod).includes('Failed'));
        await stage.stopAgent();
        stage.startAgent();
        assert.equal(await verdict(stage), 'refused');
        stage.tart.controls.host({ keychain: undefined });
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(restartsOf(running), 0);
        await untilVerdict(stage, 'works');
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('no longer counts after a reboot of the Mac', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ keychain: 'locked' });
        stage.startAgent();
        const pod = await stage.pod();
        await untilVerdict(stage, 'refused');
        await stage.stopAgent();
        stage.bootID = 'boot-2';
        stage.tart.controls.host({ keychain: undefined });
        stage.startAgent();
        assert.equal(await verdict(stage), 'works');
        await stage.waitForPod(pod, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('is blamed on its image when other images start: its Pod waits without a slot, and the Mac stays healthy', () =>
    withMac(
      async (stage) => {
        const broken = 'ghcr.io/example/broken:1';
        stage.tart.controls.image(broken, { digest: `sha256:${'b'.repeat(64)}` });
        stage.startAgent();
        await runToEnd(stage);
        stage.tart.controls.command('run', { answer: refusesStarts });
        const refused = await Promise.all(
          ['a', 'b'].map(() =>
            stage.pod(({ containers: [container] }) => void (container && (container.image = broken))),
          ),
        );
        for (const pod of refused) await stage.waitForPod(pod, 'is refused', isRefused);
        await eventually('it was tried often', async () => stage.tart.journal.calls('run').length > 6);
        assert.equal(await verdict(stage), 'works');
        // While they back off, a later Pod gets a slot to try.
        const good = await stage.pod();
        await stage.waitForPod(good, 'is tried', isRefused);
        for (const pod of refused) await stage.deletePod(pod);
        stage.tart.controls.command('run', {});
        await stage.waitForPod(good, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('makes the Mac unhealthy when the console session is missing', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        await runToEnd(stage);
        stage.session = () => Promise.reject(new Error('Nobody is logged in at the console.'));
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'waits', isRefused);
        await untilVerdict(stage, 'refused');
        stage.session = async () => {};
        await stage.waitForPod(pod, 'is Running', isRunning);
        await untilVerdict(stage, 'works');
      },
      { speed: 20 },
    ));
});

describe('leaked VM slots of macOS', { timeout: 120_000 }, () => {
  it('are detected, keep Pods waiting, and are free again after a reboot', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.host({ leaksSlots: true });
        stage.startAgent();
        await runToEnd(stage);
        await runToEnd(stage);
        const pod = await stage.pod();
        const refused = await stage.waitForPod(pod, 'is refused', isRefused);
        assert.deepEqual(
          [refused.status?.phase, refused.status?.message],
          ['Pending', 'The number of VMs exceeds the system limit'],
        );
        await untilVerdict(stage, 'slots leaked');
        // Also without a Pod that retries.
        await stage.deletePod(pod);
        await stage.waitForPod(pod, 'is gone', isGone);
        assert.equal(await verdict(stage), 'slots leaked');
        await stage.stopAgent();
        stage.bootID = 'boot-2';
        stage.tart.controls.host({ leaksSlots: undefined });
        stage.tart.controls.reboot();
        stage.startAgent();
        assert.equal(await verdict(stage), 'works');
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('are detected while one of two VMs runs, until two run', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        stage.tart.controls.host({ limit: 1 });
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        await stage.waitForPod(await stage.pod(), 'is refused', isRefused);
        await untilVerdict(stage, 'slots leaked');
        stage.tart.controls.host({ limit: undefined });
        await untilVerdict(stage, 'works');
      },
      { speed: 20 },
    ));
});
