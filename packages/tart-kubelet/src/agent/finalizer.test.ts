import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { eventually } from '../vm-runs/testing/eventually.ts';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, waitingReason } from './testing/pod-checks.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

/** The server takes its time with the first write to a Pod, which brings the finalizer. */
const slowFirstWrite = async (stage: Harness) => {
  stage.startAgent();
  // Its image is here from now on.
  const before = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
  await stage.deletePod(before, 0);
  await stage.waitForPod(before, 'is gone', isGone);
  const answer = Promise.withResolvers<void>();
  const writes: string[] = [];
  stage.intercept = async (request) => {
    if (!isStatusWrite(request)) return;
    writes.push(request);
    await answer.promise;
  };
  return { answer, writes };
};
const calls = ({ tart }: Harness, command: string): number => tart.journal.calls(command).length;
const isReady = (stage: Harness) => eventually('its disk is ready', () => calls(stage, 'set') === 2);

describe('the finalizer of a Pod', { timeout: 120_000 }, () => {
  it('is awaited after the clone, and no VM runs before it is set (INC-15)', () =>
    withMac(async (stage) => {
      const { answer, writes } = await slowFirstWrite(stage);
      const pod = await stage.pod();
      await isReady(stage);
      await eventually('it waits', () => stage.logs.some((line) => line.includes('await finalizer')));
      assert.equal(calls(stage, 'run'), 1, 'that of the Pod before it');
      assert.equal(writes.length, 1, 'a second write at once would be refused');
      answer.resolve();
      const running = await stage.waitForPod(pod, 'is Running', isRunning);
      assert.deepEqual(running.metadata.finalizers, [finalizers.vmCleanup]);
      assert.equal(calls(stage, 'clone'), 3, 'the base, the one before it and this one');
    }));

  it('that is too late for a deleted Pod leaves no VM, no record and no used slot (INC-405)', () =>
    withMac(async (stage) => {
      const { answer } = await slowFirstWrite(stage);
      const pod = await stage.pod();
      await isReady(stage);
      await stage.deletePod(pod, 0);
      await stage.waitForPod(pod, 'is gone', isGone);
      answer.resolve();
      await eventually('its disk is gone', async () =>
        (await readdir(join(stage.tart.home, 'vms'))).every((name) => !name.startsWith('runners-')),
      );
      await eventually('nobody knows of it', async () => (await stage.journal.read(pod.metadata.uid)) === undefined);
      assert.equal(calls(stage, 'run'), 1, 'that of the Pod before it');
    }));

  it('that is refused for a while delays the start, with one clone', () =>
    withMac(
      async (stage) => {
        let isAway = true;
        stage.intercept = (request) => {
          if (isAway && isStatusWrite(request)) throw new KubeError('unreachable', 'no route to the server');
        };
        stage.startAgent();
        const pod = await stage.pod();
        await eventually('its disk is ready', () => calls(stage, 'set') === 1);
        await eventually(
          'it was asked for again',
          () => stage.logs.filter((line) => line.includes('add finalizer')).length > 1,
        );
        assert.equal(calls(stage, 'run'), 0);
        isAway = false;
        await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(calls(stage, 'clone'), 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('does not hide an earlier failure', () =>
    withMac(async (stage) => {
      const { answer } = await slowFirstWrite(stage);
      stage.tart.controls.command('clone', { answer: { code: 1, stderr: 'the disk is on fire' } });
      const pod = await stage.pod();
      await eventually('it failed', () => eventReasonsOf(stage, pod).includes('Failed'));
      answer.resolve();
      await stage.waitForPod(pod, 'says so', (seen) => waitingReason(seen) === 'TartCreateFailed');
    }));
});
