import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { type Harness, hasEnded, isRunning, withMac } from './testing/harness.ts';
import {
  eventReasonsOf,
  isReady,
  processOf,
  runInGuest,
  terminatedState,
  touchPod,
  vmNameOf,
} from './testing/pod-checks.ts';

const started = async (stage: Harness) => {
  stage.startAgent();
  return stage.waitForPod(await stage.pod(), 'is Running', isRunning);
};
const nothingRuns = (stage: Harness) =>
  eventually('no virtual machine is on', async () => (await stage.runningVms()).length === 0);

describe('a restarted agent', { timeout: 120_000 }, () => {
  it('adopts the running VM process and starts no second one (INC-04, INC-30)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      const process = await processOf(stage, pod);
      await stage.stopAgent();
      assert.deepEqual(await stage.runningVms(), [vmNameOf(pod)]);
      const from = stage.logs.length;
      stage.startAgent();
      await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
      assert.ok(process);
      assert.deepEqual(await processOf(stage, pod), process);
      await runInGuest(stage, vmNameOf(pod), 'shutdown -h now');
      const ended = await stage.waitForPod(pod, 'has ended', (seen) => {
        assert.notEqual(seen?.status?.phase, 'Pending');
        return hasEnded(seen);
      });
      assert.equal(ended.status?.phase, 'Succeeded');
      assert.equal(stage.tart.journal.calls('run').length, 1);
      assert.equal(eventReasonsOf(stage, pod).filter((reason) => reason === 'Failed').length, 0);
    }));

  it('keeps Running and Ready while the address cannot be queried (INC-410)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      const before = (await stage.getPod(pod))?.status;
      await stage.stopAgent();
      stage.tart.controls.command('ip', { answer: { code: 1, stderr: 'no IP address found' } });
      const from = stage.logs.length;
      stage.startAgent();
      await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
      await touchPod(stage, pod);
      const seen = await stage.getPod(pod);
      assert.deepEqual([seen?.status?.phase, isReady(seen), seen?.status?.podIP], ['Running', true, before?.podIP]);
      assert.deepEqual(seen?.status?.conditions, before?.conditions);
    }));

  it('reports a VM that halted meanwhile as terminated, with the end of its log, and does not boot it again (INC-407)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      await stage.stopAgent();
      await runInGuest(stage, vmNameOf(pod), 'echo the last words >>"Volumes/My Shared Files/status/runner.log"');
      await runInGuest(stage, vmNameOf(pod), 'shutdown -h now');
      await nothingRuns(stage);
      stage.startAgent();
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Succeeded', 0, 'TartRunExited'],
      );
      const log = await readFile(join(stage.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
      assert.match(log, /the last words/);
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));

  it('reports a VM that failed meanwhile as failed, by the report of the guest or the output of tart (INC-409)', () =>
    withMac(async (stage) => {
      stage.startAgent();
      const [reported, crashed] = await Promise.all([stage.pod(), stage.pod()]);
      const pods = await Promise.all([reported, crashed].map((pod) => stage.waitForPod(pod, 'is Running', isRunning)));
      await stage.stopAgent();
      const [first = '', second = ''] = pods.map(vmNameOf);
      await runInGuest(stage, first, 'echo 7 >"Volumes/My Shared Files/status/runner-rc"');
      stage.tart.controls.guest(second, { ends: 'error' });
      await Promise.all([first, second].map((vm) => runInGuest(stage, vm, 'shutdown -h now')));
      await nothingRuns(stage);
      stage.startAgent();
      const ends = await Promise.all(pods.map((pod) => stage.waitForPod(pod, 'has ended', hasEnded)));
      assert.deepEqual(
        ends.map((pod) => [pod.status?.phase, terminatedState(pod)?.exitCode, terminatedState(pod)?.reason]),
        [
          ['Failed', 7, 'Error'],
          ['Failed', 1, 'TartRunFailed'],
        ],
      );
      assert.match(terminatedState(ends[1])?.message ?? '', /due to error/);
    }));

  it('boots no second VM for a Pod that has run, even without its journal (INC-18)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      await stage.stopAgent();
      stage.tart.powerOff();
      await rm(join(stage.folder, 'journal'), { recursive: true });
      stage.startAgent();
      const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Failed');
      assert.equal(stage.tart.journal.calls('run').length, 1);
    }));
});
