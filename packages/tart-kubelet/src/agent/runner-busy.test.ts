import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inTheGuest, labels, runnerBusyCondition } from '@tartan/api';
import { hostilePrograms } from '@tartan/sim-mac';
import { eventually } from '../runs/testing/eventually.ts';
import { inGuest, vmOf } from './testing/looks.ts';
import { hasEnded, isRunning, onMac, type Stage } from './testing/stage.ts';

type Seen = Awaited<ReturnType<Stage['seen']>>;

const status = `"Volumes/My Shared Files/${inTheGuest.shares.status}"`;
const ready = `: >${status}/${inTheGuest.ready}`;
const job = `: >${status}/${inTheGuest.jobStarted}`;
const conditionOf = (pod: Seen) => pod?.status?.conditions?.find(({ type }) => type === runnerBusyCondition);
const says = (word: string) => (pod: Seen) => conditionOf(pod)?.status === word;
const runner = (stage: Stage) =>
  stage.pod((_spec, pod) => {
    pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
  });

describe('what the agent says of a runner', { timeout: 120_000 }, () => {
  it('is unknown, then that it waits, then that it has a job; and stays when the guest takes its word back', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await runner(stage);
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.deepEqual([conditionOf(running)?.status, conditionOf(running)?.reason], ['Unknown', 'NotReported']);
        await inGuest(stage, vmOf(running), ready);
        const idle = await stage.until(pod, 'waits for a job', says('False'));
        assert.equal(conditionOf(idle)?.reason, 'WaitsForJob');
        await inGuest(stage, vmOf(running), job);
        const busy = await stage.until(pod, 'has a job', says('True'));
        assert.equal(conditionOf(busy)?.reason, 'JobStarted');
        await inGuest(stage, vmOf(running), `rm ${status}/*; shutdown -h now`);
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.deepEqual(conditionOf(ended), conditionOf(busy));
      },
      { speed: 20 },
    ));

  it('counts for a job that began and ended between two looks', () =>
    onMac(async (stage) => {
      stage.tart.controls.guest('_', { program: `${ready}; ${job}; shutdown -h now` });
      stage.start();
      const ended = await stage.until(await runner(stage), 'has ended', hasEnded);
      assert.equal(conditionOf(ended)?.status, 'True');
    }));

  it('that ended without a job stays that it had none', () =>
    onMac(async (stage) => {
      stage.tart.controls.guest('_', { program: `${ready}; shutdown -h now` });
      stage.start();
      const pod = await runner(stage);
      await stage.until(pod, 'has ended', hasEnded);
      const freed = (seen: Seen) => (seen?.metadata.finalizers ?? []).length === 0;
      assert.equal(conditionOf(await stage.until(pod, 'has no finalizer', freed))?.status, 'False');
    }));

  it('goes on with the next agent, which takes the virtual machine over', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await runner(stage);
        const running = await stage.until(pod, 'is Running', isRunning);
        await inGuest(stage, vmOf(running), ready);
        const before = await stage.until(pod, 'waits for a job', says('False'));
        await stage.stop();
        const from = stage.logs.length;
        stage.start();
        await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
        assert.deepEqual(conditionOf(await stage.seen(pod)), conditionOf(before));
        await inGuest(stage, vmOf(running), job);
        await stage.until(pod, 'has a job', says('True'));
      },
      { speed: 20 },
    ));

  it('is unknown for a guest that puts anything else in the place of its word, and the Pod runs on', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await runner(stage);
        const running = await stage.until(pod, 'is Running', isRunning);
        const { directory, fifo, symlink, huge } = hostilePrograms(inTheGuest.jobStarted);
        for (const hostile of [directory, fifo, symlink, huge]) {
          await inGuest(stage, vmOf(running), ready);
          await stage.until(pod, 'waits for a job', says('False'));
          await inGuest(stage, vmOf(running), hostile);
          await stage.until(pod, 'is not known', says('Unknown'));
          await inGuest(stage, vmOf(running), `rm -rf ${status}/*`);
        }
        assert.equal(isRunning(await stage.seen(pod)), true);
      },
      { speed: 20 },
    ));

  it('costs no request while nothing changes, and is not said of other Pods', () =>
    onMac(
      async (stage) => {
        stage.start();
        const [one, other] = [await runner(stage), await stage.pod()];
        const running = await stage.until(one, 'is Running', isRunning);
        const beside = await stage.until(other, 'is Running', isRunning);
        await inGuest(stage, vmOf(running), ready);
        await inGuest(stage, vmOf(beside), ready);
        await stage.until(one, 'waits for a job', says('False'));
        const pass = (seconds: number): Promise<void> => {
          const until = stage.clock.now() + seconds * 1000;
          return eventually('time has passed', () => stage.clock.now() >= until);
        };
        // What was on its way comes to an end.
        await pass(10);
        const requests: string[] = [];
        stage.intercept = (request) => void requests.push(request);
        await pass(60);
        assert.deepEqual(requests, []);
        assert.equal(conditionOf(await stage.seen(other)), undefined);
      },
      { speed: 60 },
    ));
});
