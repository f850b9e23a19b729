import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

const calls = ({ tart }: Harness, command: string): number => tart.journal.calls(command).length;

/** The server delays its response to the write of the finalizer. */
const slowFinalizer = (harness: Harness) => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  harness.intercept = async (request) => {
    if (!isStatusWrite(request)) return;
    asked.resolve();
    await answer.promise;
  };
  return { asked: asked.promise, answer: answer.resolve };
};

describe('the finalizer of a Pod', { timeout: 120_000 }, () => {
  it('is set before anything is made for the Pod (INC-15)', () =>
    withMac(async (harness) => {
      const { asked, answer } = slowFinalizer(harness);
      harness.startAgent();
      const pod = await harness.pod();
      await asked;
      assert.equal(await harness.journal.read(pod.metadata.uid), undefined);
      assert.deepEqual([calls(harness, 'pull'), calls(harness, 'clone')], [0, 0]);
      answer();
      const running = await harness.waitForPod(pod, 'is Running', isRunning);
      assert.deepEqual(running.metadata.finalizers, [finalizers.vmCleanup]);
    }));

  it('that is too late for a deleted Pod leaves no VM, no record and no used slot (INC-405)', () =>
    withMac(async (harness) => {
      const { asked, answer } = slowFinalizer(harness);
      harness.startAgent();
      const pod = await harness.pod();
      await asked;
      await harness.deletePod(pod, 0);
      await harness.waitForPod(pod, 'is gone', isGone);
      answer();
      // Its slot is free, and the next Pod runs.
      await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
      assert.equal(await harness.journal.read(pod.metadata.uid), undefined);
      assert.deepEqual([calls(harness, 'clone'), calls(harness, 'run')], [2, 1], 'the base and the next Pod');
    }));

  it('that is refused for a while delays the start', () =>
    withMac(
      async (harness) => {
        let refusals = 0;
        harness.intercept = (request) => {
          if (!isStatusWrite(request) || refusals === 2) return;
          refusals += 1;
          throw new KubeError('unreachable', 'no route to the server');
        };
        harness.startAgent();
        await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        assert.equal(refusals, 2);
        assert.deepEqual([calls(harness, 'clone'), calls(harness, 'run')], [2, 1], 'the base and the Pod');
      },
      { speed: 20 },
    ));
});
