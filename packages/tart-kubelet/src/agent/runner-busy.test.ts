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
const runner = (harness: Harness) =>
  harness.pod((_spec, pod) => {
    pod.metadata = { ...pod.metadata, labels: { [labels.runner]: 'true' } };
  });

describe('the RunnerBusy condition of a Pod', { timeout: 120_000 }, () => {
  it('goes Unknown, False, True, and stays True when the guest removes its marker', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await runner(harness);
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual([conditionOf(running)?.status, conditionOf(running)?.reason], ['Unknown', 'NotReported']);
        await runInGuest(harness, vmNameOf(running), ready);
        const idle = await harness.waitForPod(pod, 'waits for a job', says('False'));
        assert.equal(conditionOf(idle)?.reason, 'WaitsForJob');
        await runInGuest(harness, vmNameOf(running), job);
        const busy = await harness.waitForPod(pod, 'has a job', says('True'));
        assert.equal(conditionOf(busy)?.reason, 'JobStarted');
        await runInGuest(harness, vmNameOf(running), `rm ${status}/*; shutdown -h now`);
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.deepEqual(conditionOf(ended), conditionOf(busy));
      },
      { speed: 20 },
    ));

  it('is True for a job that started and ended between two polls', () =>
    withMac(async (harness) => {
      harness.tart.controls.guest('_', { program: `${ready}; ${job}; shutdown -h now` });
      harness.startAgent();
      const ended = await harness.waitForPod(await runner(harness), 'has ended', hasEnded);
      assert.equal(conditionOf(ended)?.status, 'True');
    }));

  it('stays False for a runner that ended without a job', () =>
    withMac(async (harness) => {
      harness.tart.controls.guest('_', { program: `${ready}; shutdown -h now` });
      harness.startAgent();
      const pod = await runner(harness);
      await harness.waitForPod(pod, 'has ended', hasEnded);
      const freed = (seen: Seen) => (seen?.metadata.finalizers ?? []).length === 0;
      assert.equal(conditionOf(await harness.waitForPod(pod, 'has no finalizer', freed))?.status, 'False');
    }));

  it('continues after a restart of the agent', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await runner(harness);
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        await runInGuest(harness, vmNameOf(running), ready);
        const before = await harness.waitForPod(pod, 'waits for a job', says('False'));
        await harness.stopAgent();
        const from = harness.logs.length;
        harness.startAgent();
        await eventually('it was reconciled', () =>
          harness.logs.slice(from).some((line) => line.includes('"running"')),
        );
        assert.deepEqual(conditionOf(await harness.getPod(pod)), conditionOf(before));
        await runInGuest(harness, vmNameOf(running), job);
        await harness.waitForPod(pod, 'has a job', says('True'));
      },
      { speed: 20 },
    ));

  it('is Unknown when the marker is not a regular file, and the Pod keeps running', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await runner(harness);
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        const { directory, fifo, symlink, huge } = hostilePrograms(guestNames.jobStarted);
        for (const hostile of [directory, fifo, symlink, huge]) {
          await runInGuest(harness, vmNameOf(running), ready);
          await harness.waitForPod(pod, 'waits for a job', says('False'));
          await runInGuest(harness, vmNameOf(running), hostile);
          await harness.waitForPod(pod, 'is not known', says('Unknown'));
          await runInGuest(harness, vmNameOf(running), `rm -rf ${status}/*`);
        }
        assert.equal(isRunning(await harness.getPod(pod)), true);
      },
      { speed: 20 },
    ));

  it('sends no request while nothing changes, and is absent from other Pods', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const [one, other] = [await runner(harness), await harness.pod()];
        const running = await harness.waitForPod(one, 'is Running', isRunning);
        const beside = await harness.waitForPod(other, 'is Running', isRunning);
        await runInGuest(harness, vmNameOf(running), ready);
        await runInGuest(harness, vmNameOf(beside), ready);
        await harness.waitForPod(one, 'waits for a job', says('False'));
        const pass = (seconds: number): Promise<void> => sleep(harness.clock, seconds * 1000);
        // Lets pending work finish.
        await pass(10);
        const requests: string[] = [];
        harness.intercept = (request) => void requests.push(request);
        await pass(60);
        assert.deepEqual(requests, []);
        assert.equal(conditionOf(await harness.getPod(other)), undefined);
      },
      { speed: 60 },
    ));
});
