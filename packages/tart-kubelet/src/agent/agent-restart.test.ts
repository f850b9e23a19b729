import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '../runs/testing/eventually.ts';
import { endOf, inGuest, isReady, nudge, processOf, toldOf, vmOf } from './testing/looks.ts';
import { hasEnded, isRunning, onMac, type Stage } from './testing/stage.ts';

const started = async (stage: Stage) => {
  stage.start();
  return stage.until(await stage.pod(), 'is Running', isRunning);
};
const nothingRuns = (stage: Stage) =>
  eventually('no virtual machine is on', async () => (await stage.live()).length === 0);

describe('an agent that ends and comes back', { timeout: 120_000 }, () => {
  it('finds its virtual machine on, takes over the same process, and starts none a second time (INC-04, INC-30)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      const process = await processOf(stage, pod);
      await stage.stop();
      assert.deepEqual(await stage.live(), [vmOf(pod)]);
      const from = stage.logs.length;
      stage.start();
      await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
      assert.ok(process);
      assert.deepEqual(await processOf(stage, pod), process);
      await inGuest(stage, vmOf(pod), 'shutdown -h now');
      const ended = await stage.until(pod, 'has ended', (seen) => {
        assert.notEqual(seen?.status?.phase, 'Pending');
        return hasEnded(seen);
      });
      assert.equal(ended.status?.phase, 'Succeeded');
      assert.equal(stage.tart.journal.calls('run').length, 1);
      assert.equal(toldOf(stage, pod).filter((reason) => reason === 'Failed').length, 0);
    }));

  it('an address that cannot be asked for takes neither Running nor Ready away (G10)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      const before = (await stage.seen(pod))?.status;
      await stage.stop();
      stage.tart.controls.command('ip', { answer: { code: 1, stderr: 'no IP address found' } });
      const from = stage.logs.length;
      stage.start();
      await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
      await nudge(stage, pod);
      const seen = await stage.seen(pod);
      assert.deepEqual([seen?.status?.phase, isReady(seen), seen?.status?.podIP], ['Running', true, before?.podIP]);
      assert.deepEqual(seen?.status?.conditions, before?.conditions);
    }));

  it('a VM that halted while the agent was down is a terminated container with the end of its log, not a fresh boot (G7)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      await stage.stop();
      await inGuest(stage, vmOf(pod), 'echo the last words >>"Volumes/My Shared Files/status/runner.log"');
      await inGuest(stage, vmOf(pod), 'shutdown -h now');
      await nothingRuns(stage);
      stage.start();
      const ended = await stage.until(pod, 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, endOf(ended)?.exitCode, endOf(ended)?.reason],
        ['Succeeded', 0, 'TartRunExited'],
      );
      const log = await readFile(join(stage.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
      assert.match(log, /the last words/);
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));

  it('a VM that failed while the agent was down is no success: by its own result, and by what tart said of it (G8, G9)', () =>
    onMac(async (stage) => {
      stage.start();
      const [reported, crashed] = await Promise.all([stage.pod(), stage.pod()]);
      const pods = await Promise.all([reported, crashed].map((pod) => stage.until(pod, 'is Running', isRunning)));
      await stage.stop();
      const [first = '', second = ''] = pods.map(vmOf);
      await inGuest(stage, first, 'echo 7 >"Volumes/My Shared Files/status/runner-rc"');
      stage.tart.controls.guest(second, { ends: 'error' });
      await Promise.all([first, second].map((vm) => inGuest(stage, vm, 'shutdown -h now')));
      await nothingRuns(stage);
      stage.start();
      const ends = await Promise.all(pods.map((pod) => stage.until(pod, 'has ended', hasEnded)));
      assert.deepEqual(
        ends.map((pod) => [pod.status?.phase, endOf(pod)?.exitCode, endOf(pod)?.reason]),
        [
          ['Failed', 7, 'Error'],
          ['Failed', 1, 'TartRunFailed'],
        ],
      );
      assert.match(endOf(ends[1])?.message ?? '', /due to error/);
    }));

  it('that has lost its journal boots no second VM for a Pod that has run (G6)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      await stage.stop();
      stage.tart.unplug();
      await rm(join(stage.folder, 'journal'), { recursive: true });
      stage.start();
      const ended = await stage.until(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Failed');
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));
});
