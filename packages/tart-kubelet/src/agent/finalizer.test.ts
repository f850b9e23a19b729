import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

const calls = ({ tart }: Harness, command: string): number => tart.journal.calls(command).length;

/** The server delays its response to the write of the finalizer. */
const slowFinalizer = (stage: Harness) => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  stage.intercept = async (request) => {
    if (!isStatusWrite(request)) return;
    asked.resolve();
    await answer.promise;
  };
  return { asked: asked.promise, answer: answer.resolve };
};

describe('the finalizer of a Pod', { timeout: 120_000 }, () => {
  it('is set before anything is made for the Pod (INC-15)', () =>
    withMac(async (stage) => {
      const { asked, answer } = slowFinalizer(stage);
      stage.startAgent();
      const pod = await stage.pod();
      await asked;
      assert.equal(await stage.journal.read(pod.metadata.uid), undefined);
      assert.deepEqual([calls(stage, 'pull'), calls(stage, 'clone')], [0, 0]);
      answer();
      const running = await stage.waitForPod(pod, 'is Running', isRunning);
      assert.deepEqual(running.metadata.finalizers, [finalizers.vmCleanup]);
    }));

  it('that is too late for a deleted Pod leaves no VM, no record and no used slot (INC-405)', () =>
    withMac(async (stage) => {
      const { asked, answer } = slowFinalizer(stage);
      stage.startAgent();
      const pod = await stage.pod();
      await asked;
      await stage.deletePod(pod, 0);
      await stage.waitForPod(pod, 'is gone', isGone);
      answer();
      // Its slot is free, and the next Pod runs.
      await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
      assert.equal(await stage.journal.read(pod.metadata.uid), undefined);
      assert.deepEqual([calls(stage, 'clone'), calls(stage, 'run')], [2, 1], 'the base and the next Pod');
    }));

  it('that is refused for a while delays the start', () =>
    withMac(
      async (stage) => {
        let refusals = 0;
        stage.intercept = (request) => {
          if (!isStatusWrite(request) || refusals === 2) return;
          refusals += 1;
          throw new KubeError('unreachable', 'no route to the server');
        };
        stage.startAgent();
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        assert.equal(refusals, 2);
        assert.deepEqual([calls(stage, 'clone'), calls(stage, 'run')], [2, 1], 'the base and the Pod');
      },
      { speed: 20 },
    ));
});
