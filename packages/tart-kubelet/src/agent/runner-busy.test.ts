import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guestNames, labels, runnerBusyCondition } from '@tartan/api';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { hostilePrograms } from '@tartan/sim-mac';
import { type Harness, hasEnded, isRunning, withMac } from './testing/harness.ts';
import { runInGuest, vmNameOf } from './testing/pod-checks.ts';

type Seen = Awaited<ReturnType<Harness['getPod']>>;

const status = `"Volumes/My Shared Files/${guestNames.shares.status}"`;
const ready = `: >${status}/${guestNames.ready}`;
const job = `: >${status}/${guestNames.jobStarted}`;
const conditionOf = (pod: Seen) => pod?.status?.conditions?.find(({ type }) => type === runnerBusyCondition);
const says = (word: string) => (pod: Seen) => conditionOf(pod)?.status === word;
const runner = (stage: Harness) =>
  stage.pod((_spec, pod) => {
    pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
  });

describe('the RunnerBusy condition of a Pod', { timeout: 120_000 }, () => {
  it('goes Unknown, False, True, and stays True when the guest removes its marker', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await runner(stage);
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual([conditionOf(running)?.status, conditionOf(running)?.reason], ['Unknown', 'NotReported']);
        await runInGuest(stage, vmNameOf(running), ready);
        const idle = await stage.waitForPod(pod, 'waits for a job', says('False'));
        assert.equal(conditionOf(idle)?.reason, 'WaitsForJob');
        await runInGuest(stage, vmNameOf(running), job);
        const busy = await stage.waitForPod(pod, 'has a job', says('True'));
        assert.equal(conditionOf(busy)?.reason, 'JobStarted');
        await runInGuest(stage, vmNameOf(running), `rm ${status}/*; shutdown -h now`);
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual(conditionOf(ended), conditionOf(busy));
      },
      { speed: 20 },
    ));

  it('is True for a job that started and ended between two polls', () =>
    withMac(async (stage) => {
      stage.tart.controls.guest('_', { program: `${ready}; ${job}; shutdown -h now` });
      stage.startAgent();
      const ended = await stage.waitForPod(await runner(stage), 'has ended', hasEnded);
      assert.equal(conditionOf(ended)?.status, 'True');
    }));

  it('stays False for a runner that ended without a job', () =>
    withMac(async (stage) => {
      stage.tart.controls.guest('_', { program: `${ready}; shutdown -h now` });
      stage.startAgent();
      const pod = await runner(stage);
      await stage.waitForPod(pod, 'has ended', hasEnded);
      const freed = (seen: Seen) => (seen?.metadata.finalizers ?? []).length === 0;
      assert.equal(conditionOf(await stage.waitForPod(pod, 'has no finalizer', freed))?.status, 'False');
    }));

  it('continues after a restart of the agent', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await runner(stage);
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        await runInGuest(stage, vmNameOf(running), ready);
        const before = await stage.waitForPod(pod, 'waits for a job', says('False'));
        await stage.stopAgent();
        const from = stage.logs.length;
        stage.startAgent();
        await eventually('it was looked at', () => stage.logs.slice(from).some((line) => line.includes('"running"')));
        assert.deepEqual(conditionOf(await stage.getPod(pod)), conditionOf(before));
        await runInGuest(stage, vmNameOf(running), job);
        await stage.waitForPod(pod, 'has a job', says('True'));
      },
      { speed: 20 },
    ));

  it('is Unknown when the marker is not a regular file, and the Pod keeps running', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await runner(stage);
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        const { directory, fifo, symlink, huge } = hostilePrograms(guestNames.jobStarted);
        for (const hostile of [directory, fifo, symlink, huge]) {
          await runInGuest(stage, vmNameOf(running), ready);
          await stage.waitForPod(pod, 'waits for a job', says('False'));
          await runInGuest(stage, vmNameOf(running), hostile);
          await stage.waitForPod(pod, 'is not known', says('Unknown'));
          await runInGuest(stage, vmNameOf(running), `rm -rf ${status}/*`);
        }
        assert.equal(isRunning(await stage.getPod(pod)), true);
      },
      { speed: 20 },
    ));

  it('sends no request while nothing changes, and is absent from other Pods', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const [one, other] = [await runner(stage), await stage.pod()];
        const running = await stage.waitForPod(one, 'is Running', isRunning);
        const beside = await stage.waitForPod(other, 'is Running', isRunning);
        await runInGuest(stage, vmNameOf(running), ready);
        await runInGuest(stage, vmNameOf(beside), ready);
        await stage.waitForPod(one, 'waits for a job', says('False'));
        const pass = (seconds: number): Promise<void> => sleep(stage.clock, seconds * 1000);
        // Lets pending work finish.
        await pass(10);
        const requests: string[] = [];
        stage.intercept = (request) => void requests.push(request);
        await pass(60);
        assert.deepEqual(requests, []);
        assert.equal(conditionOf(await stage.getPod(other)), undefined);
      },
      { speed: 60 },
    ));
});
