import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, pods } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { hasEnded, isGone, isRunning, withMac } from './testing/harness.ts';
import { runInGuest, touchPod, vmNameOf } from './testing/pod-checks.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

describe('API server failures', { timeout: 120_000 }, () => {
  it('conflicts on nearly every write: the termination is still reported, and the Pod runs once (INC-18)', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.guest('_', { program: 'shutdown -h now' });
        const pod = await harness.pod();
        let writes = 0;
        harness.intercept = async (request) => {
          if (!isStatusWrite(request)) return;
          writes += 1;
          if (writes % 7 !== 0) await touchPod(harness, pod);
        };
        harness.startAgent();
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
        assert.ok(ended.metadata.labels?.['nudge'], 'what the others wrote stays');
        await harness.waitForPod(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
        await touchPod(harness, pod);
        assert.equal(harness.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('a termination that cannot be written is kept and written later; nothing is deleted or booted again (INC-18)', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        harness.intercept = (request) => {
          if (isStatusWrite(request)) throw new KubeError('unreachable', 'no route to the server');
        };
        await runInGuest(harness, vmNameOf(pod), 'echo 4 >"Volumes/My Shared Files/status/runner-rc"');
        await runInGuest(harness, vmNameOf(pod), 'shutdown -h now');
        await eventually('it is off', async () => (await harness.runningVms()).length === 0);
        await sleep(harness.clock, 30_000);
        assert.ok(await harness.driver.get(vmNameOf(pod)), 'its disk is there as long as nobody knows of its end');
        harness.intercept = () => {};
        const ended = await harness.waitForPod(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 4);
        assert.equal(harness.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('the agent converges after an outage during which Pods come and go', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const first = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        harness.intercept = () => {
          throw new KubeError('unreachable', 'no route to the server');
        };
        harness.dropConnections();
        await harness.deletePod(first);
        const second = await harness.pod();
        await sleep(harness.clock, 20_000);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(first)]);
        harness.intercept = () => {};
        await harness.waitForPod(first, 'is gone', isGone);
        const running = await harness.waitForPod(second, 'is Running', isRunning);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(running)]);
      },
      { speed: 20 },
    ));

  it('no step waits for the watch event of an own write (INC-29)', () =>
    withMac(async (harness) => {
      const pod = await harness.pod();
      const silence = Promise.withResolvers<void>();
      harness.intercept = (request) => (request.includes('watch=') ? silence.promise : undefined);
      harness.startAgent();
      const running = await harness.waitForPod(pod, 'is Running', isRunning);
      await runInGuest(harness, vmNameOf(running), 'shutdown -h now');
      await harness.waitForPod(
        pod,
        'has ended and has no finalizer',
        (seen) => hasEnded(seen) && !seen?.metadata.finalizers?.length,
      );
      silence.reject(new KubeError('unreachable', 'the connection broke'));
    }));

  it('the agent shuts down during an outage with pending writes', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const first = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        harness.tart.controls.guest('_', { bootMs: 1_000 });
        const second = await harness.pod();
        await eventually('it boots', async () => (await harness.runningVms()).length === 2);
        let asked = 0;
        harness.intercept = () => {
          asked += 1;
          throw new KubeError('unreachable', 'no route to the server');
        };
        harness.dropConnections();
        await runInGuest(harness, vmNameOf(first), 'shutdown -h now');
        const isTold = (text: string) =>
          harness.logs.some((line) => line.includes(text) && line.includes(second.metadata.uid));
        await eventually('one has ended', () => harness.logs.some((line) => line.includes('VM ended')));
        await eventually('one is up', () => isTold('"running"'));
        await harness.stopAgent();
        asked = 0;
        await sleep(harness.clock, 6_000);
        assert.equal(asked, 0);
        harness.intercept = () => {};
        harness.startAgent();
        await harness.waitForPod(second, 'is Running', isRunning);
        const ended = await harness.waitForPod(first, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
      },
      { speed: 10 },
    ));

  it('an unchanged status is not written again', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const pod = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        await sleep(harness.clock, 4_000);
        const written: string[] = [];
        harness.intercept = (request) => void (request.startsWith('GET ') || written.push(request));
        const from = harness.logs.length;
        for (let times = 0; times < 5; times += 1) {
          await touchPod(harness, pod);
          await eventually('it was reconciled', () => harness.logs.length > from + times);
          await sleep(harness.clock, 2_000);
        }
        assert.deepEqual(written, []);
        const { metadata } = await harness.admin.get(pods, { name: pod.metadata.name, namespace: 'runners' });
        assert.ok(metadata.labels?.['nudge']);
      },
      { speed: 20 },
    ));
});
