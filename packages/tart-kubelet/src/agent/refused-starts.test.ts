import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import type { Pod } from '../pods/snapshot.ts';
import { eventually } from '../runs/testing/eventually.ts';
import { inGuest, restartsOf, toldOf, vmOf, waitsFor } from './testing/looks.ts';
import { hasEnded, isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const isRefused = (pod: Live<Pod> | undefined): boolean => waitsFor(pod) === 'TartCreateFailed';
const verdict = async ({ starts }: Stage): Promise<string> => (await starts.verdict()).kind;
const untilVerdict = (stage: Stage, kind: string): Promise<void> =>
  eventually(`the verdict is ${kind}`, async () => (await verdict(stage)) === kind);
const refusesStarts = { code: 1, stderr: 'Error Domain=VZErrorDomain Code=1 "The virtual machine failed to start."' };
const runToEnd = async (stage: Stage): Promise<void> => {
  const pod = await stage.until(await stage.pod(), 'is Running', isRunning);
  await inGuest(stage, vmOf(pod), 'shutdown -h now');
  await stage.until(pod, 'has ended', hasEnded);
  await eventually('it is off', async () => (await stage.live()).length === 0);
};

describe('a virtual machine that the Mac does not start', { timeout: 120_000 }, () => {
  it('while the login keychain is locked makes its Pod wait; the Mac is found guilty, also by the next agent, until it starts', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ keychain: 'locked' });
        stage.start();
        const pod = await stage.pod();
        const refused = await stage.until(pod, 'is refused', isRefused);
        assert.equal(refused.status?.phase, 'Pending');
        assert.match(refused.status?.message ?? '', /The virtual machine failed to start/);
        await untilVerdict(stage, 'refused');
        assert.ok(toldOf(stage, pod).includes('Failed'));
        await stage.stop();
        stage.start();
        assert.equal(await verdict(stage), 'refused');
        stage.tart.controls.host({ keychain: undefined });
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.equal(restartsOf(running), 0);
        await untilVerdict(stage, 'works');
        assert.equal(stage.tart.journal.calls('clone').length, 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('is forgiven to a Mac that has booted since', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ keychain: 'locked' });
        stage.start();
        const pod = await stage.pod();
        await untilVerdict(stage, 'refused');
        await stage.stop();
        stage.bootID = 'boot-2';
        stage.tart.controls.host({ keychain: undefined });
        stage.start();
        assert.equal(await verdict(stage), 'works');
        await stage.until(pod, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('although others have started is the fault of its image: its Pod waits, without a slot, and the Mac is not blamed', () =>
    onMac(
      async (stage) => {
        const broken = 'ghcr.io/example/broken:1';
        stage.tart.controls.image(broken, { digest: `sha256:${'b'.repeat(64)}` });
        stage.start();
        await runToEnd(stage);
        stage.tart.controls.command('run', { answer: refusesStarts });
        const refused = await Promise.all(
          ['a', 'b'].map(() =>
            stage.pod(({ containers: [container] }) => void (container && (container.image = broken))),
          ),
        );
        for (const pod of refused) await stage.until(pod, 'is refused', isRefused);
        await eventually('it was tried often', async () => stage.tart.journal.calls('run').length > 6);
        assert.equal(await verdict(stage), 'works');
        stage.tart.controls.command('run', {});
        // Both are held back for a while: whoever comes later need not wait for them.
        const good = await stage.pod();
        await stage.until(good, 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('for lack of a session at the console is the fault of the Mac', () =>
    onMac(
      async (stage) => {
        stage.start();
        await runToEnd(stage);
        stage.session = () => Promise.reject(new Error('Nobody is logged in at the console.'));
        const pod = await stage.pod();
        await stage.until(pod, 'waits', isRefused);
        await untilVerdict(stage, 'refused');
        stage.session = async () => {};
        await stage.until(pod, 'is Running', isRunning);
        await untilVerdict(stage, 'works');
      },
      { speed: 20 },
    ));
});

describe('slots that macOS has lost', { timeout: 120_000 }, () => {
  it('make Pods wait and are seen, and are there again when the Mac has booted', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.host({ leaksSlots: true });
        stage.start();
        await runToEnd(stage);
        await runToEnd(stage);
        const pod = await stage.pod();
        const refused = await stage.until(pod, 'is refused', isRefused);
        assert.deepEqual(
          [refused.status?.phase, refused.status?.message],
          ['Pending', 'The number of VMs exceeds the system limit'],
        );
        await untilVerdict(stage, 'slots leaked');
        // Whether or not a Pod is left that tries.
        await stage.delete(pod);
        await stage.until(pod, 'is gone', isGone);
        assert.equal(await verdict(stage), 'slots leaked');
        await stage.stop();
        stage.bootID = 'boot-2';
        stage.tart.controls.host({ leaksSlots: undefined });
        stage.tart.controls.reboot();
        stage.start();
        assert.equal(await verdict(stage), 'works');
        await stage.until(await stage.pod(), 'is Running', isRunning);
      },
      { speed: 20 },
    ));

  it('are missed also while one of two runs, until two run', () =>
    onMac(
      async (stage) => {
        stage.start();
        stage.tart.controls.host({ limit: 1 });
        await stage.until(await stage.pod(), 'is Running', isRunning);
        await stage.until(await stage.pod(), 'is refused', isRefused);
        await untilVerdict(stage, 'slots leaked');
        stage.tart.controls.host({ limit: undefined });
        await untilVerdict(stage, 'works');
      },
      { speed: 20 },
    ));
});
