import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { KubeError } from '@tartan/kube';
import { eventually } from '../runs/testing/eventually.ts';
import { toldOf, waitsFor } from './testing/looks.ts';
import { isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

/** The server takes its time with the first write to a Pod, which brings the finalizer. */
const slowFirstWrite = async (stage: Stage) => {
  stage.start();
  // Its image is here from now on.
  const before = await stage.until(await stage.pod(), 'is Running', isRunning);
  await stage.delete(before, 0);
  await stage.until(before, 'is gone', isGone);
  const answer = Promise.withResolvers<void>();
  const writes: string[] = [];
  stage.intercept = async (request) => {
    if (!isStatusWrite(request)) return;
    writes.push(request);
    await answer.promise;
  };
  return { answer, writes };
};
const calls = ({ tart }: Stage, command: string): number => tart.journal.calls(command).length;
const isReady = (stage: Stage) => eventually('its disk is ready', () => calls(stage, 'set') === 2);

describe('the finalizer of a Pod', { timeout: 120_000 }, () => {
  it('is awaited with a disk that is ready, and nothing is on before it is there (INC-15)', () =>
    onMac(async (stage) => {
      const { answer, writes } = await slowFirstWrite(stage);
      const pod = await stage.pod();
      await isReady(stage);
      await eventually('it waits', () => stage.logs.some((line) => line.includes('await finalizer')));
      assert.equal(calls(stage, 'run'), 1, 'that of the Pod before it');
      assert.equal(writes.length, 1, 'a second write at once would be refused');
      answer.resolve();
      const running = await stage.until(pod, 'is Running', isRunning);
      assert.deepEqual(running.metadata.finalizers, [finalizers.vmCleanup]);
      assert.equal(calls(stage, 'clone'), 3, 'the base, the one before it and this one');
    }));

  it('that comes too late for a Pod leaves nothing of it: no virtual machine, no record, no slot (G5)', () =>
    onMac(async (stage) => {
      const { answer } = await slowFirstWrite(stage);
      const pod = await stage.pod();
      await isReady(stage);
      await stage.delete(pod, 0);
      await stage.until(pod, 'is gone', isGone);
      answer.resolve();
      await eventually('its disk is gone', async () =>
        (await readdir(join(stage.tart.home, 'vms'))).every((name) => !name.startsWith('runners-')),
      );
      await eventually('nobody knows of it', async () => (await stage.journal.read(pod.metadata.uid)) === undefined);
      assert.equal(calls(stage, 'run'), 1, 'that of the Pod before it');
    }));

  it('that is refused for a while keeps the Pod from starting, and one disk is enough', () =>
    onMac(
      async (stage) => {
        let isAway = true;
        stage.intercept = (request) => {
          if (isAway && isStatusWrite(request)) throw new KubeError('unreachable', 'no route to the server');
        };
        stage.start();
        const pod = await stage.pod();
        await eventually('its disk is ready', () => calls(stage, 'set') === 1);
        await eventually(
          'it was asked for again',
          () => stage.logs.filter((line) => line.includes('add finalizer')).length > 1,
        );
        assert.equal(calls(stage, 'run'), 0);
        isAway = false;
        await stage.until(pod, 'is Running', isRunning);
        assert.equal(calls(stage, 'clone'), 2, 'the base and this one');
      },
      { speed: 20 },
    ));

  it('hides no failure that comes before it', () =>
    onMac(async (stage) => {
      const { answer } = await slowFirstWrite(stage);
      stage.tart.controls.command('clone', { answer: { code: 1, stderr: 'the disk is on fire' } });
      const pod = await stage.pod();
      await eventually('it failed', () => toldOf(stage, pod).includes('Failed'));
      answer.resolve();
      await stage.until(pod, 'says so', (seen) => waitsFor(seen) === 'TartCreateFailed');
    }));
});
