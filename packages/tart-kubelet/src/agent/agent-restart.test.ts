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

const started = async (harness: Harness) => {
  harness.startAgent();
  return harness.waitForPod(await harness.pod(), 'is Running', isRunning);
};
const nothingRuns = (harness: Harness) =>
  eventually('no virtual machine is on', async () => (await harness.runningVms()).length === 0);

describe('a restarted agent', { timeout: 120_000 }, () => {
  it('adopts the running VM process and starts no second one (INC-04, INC-30)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      const process = await processOf(harness, pod);
      await harness.stopAgent();
      assert.deepEqual(await harness.runningVms(), [vmNameOf(pod)]);
      const from = harness.logs.length;
      harness.startAgent();
      await eventually('it was reconciled', () => harness.logs.slice(from).some((line) => line.includes('"running"')));
      assert.ok(process);
      assert.deepEqual(await processOf(harness, pod), process);
      await runInGuest(harness, vmNameOf(pod), 'shutdown -h now');
      const ended = await harness.waitForPod(pod, 'has ended', (seen) => {
        assert.notEqual(seen?.status?.phase, 'Pending');
        return hasEnded(seen);
      });
      assert.equal(ended.status?.phase, 'Succeeded');
      assert.equal(harness.tart.journal.calls('run').length, 1);
      assert.equal(eventReasonsOf(harness, pod).filter((reason) => reason === 'Failed').length, 0);
    }));

  it('keeps Running and Ready while the address cannot be queried (INC-410)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      const before = (await harness.getPod(pod))?.status;
      await harness.stopAgent();
      harness.tart.controls.command('ip', { answer: { code: 1, stderr: 'no IP address found' } });
      const from = harness.logs.length;
      harness.startAgent();
      await eventually('it was reconciled', () => harness.logs.slice(from).some((line) => line.includes('"running"')));
      await touchPod(harness, pod);
      const seen = await harness.getPod(pod);
      assert.deepEqual([seen?.status?.phase, isReady(seen), seen?.status?.podIP], ['Running', true, before?.podIP]);
      assert.deepEqual(seen?.status?.conditions, before?.conditions);
    }));

  it('reports a VM that halted meanwhile as terminated, with the end of its log, and does not boot it again (INC-407)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      await harness.stopAgent();
      await runInGuest(harness, vmNameOf(pod), 'echo the last words >>"Volumes/My Shared Files/status/runner.log"');
      await runInGuest(harness, vmNameOf(pod), 'shutdown -h now');
      await nothingRuns(harness);
      harness.startAgent();
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.deepEqual(
        [ended.status?.phase, terminatedState(ended)?.exitCode, terminatedState(ended)?.reason],
        ['Succeeded', 0, 'TartRunExited'],
      );
      const log = await readFile(join(harness.folder, 'logs', pod.metadata.uid, 'runner', '0.log'), 'utf8');
      assert.match(log, /the last words/);
      assert.equal(harness.tart.journal.calls('run').length, 1);
    }));

  it('reports a VM that failed meanwhile as failed, by the report of the guest or the output of tart (INC-409)', () =>
    withMac(async (harness) => {
      harness.startAgent();
      const [reported, crashed] = await Promise.all([harness.pod(), harness.pod()]);
      const pods = await Promise.all(
        [reported, crashed].map((pod) => harness.waitForPod(pod, 'is Running', isRunning)),
      );
      await harness.stopAgent();
      const [first = '', second = ''] = pods.map(vmNameOf);
      await runInGuest(harness, first, 'echo 7 >"Volumes/My Shared Files/status/runner-rc"');
      harness.tart.controls.guest(second, { ends: 'error' });
      await Promise.all([first, second].map((vm) => runInGuest(harness, vm, 'shutdown -h now')));
      await nothingRuns(harness);
      harness.startAgent();
      const ends = await Promise.all(pods.map((pod) => harness.waitForPod(pod, 'has ended', hasEnded)));
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
    withMac(async (harness) => {
      const pod = await started(harness);
      await harness.stopAgent();
      harness.tart.powerOff();
      await rm(join(harness.folder, 'journal'), { recursive: true });
      harness.startAgent();
      const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
      assert.equal(ended.status?.phase, 'Failed');
      assert.equal(harness.tart.journal.calls('run').length, 1);
    }));
});
