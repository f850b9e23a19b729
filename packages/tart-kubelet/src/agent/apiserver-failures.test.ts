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
      async (stage) => {
        stage.tart.controls.guest('_', { program: 'shutdown -h now' });
        const pod = await stage.pod();
        let writes = 0;
        stage.intercept = async (request) => {
          if (!isStatusWrite(request)) return;
          writes += 1;
          if (writes % 7 !== 0) await touchPod(stage, pod);
        };
        stage.startAgent();
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
        assert.ok(ended.metadata.labels?.['nudge'], 'what the others wrote stays');
        await stage.waitForPod(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
        await touchPod(stage, pod);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('a termination that cannot be written is kept and written later; nothing is deleted or booted again (INC-18)', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        stage.intercept = (request) => {
          if (isStatusWrite(request)) throw new KubeError('unreachable', 'no route to the server');
        };
        await runInGuest(stage, vmNameOf(pod), 'echo 4 >"Volumes/My Shared Files/status/runner-rc"');
        await runInGuest(stage, vmNameOf(pod), 'shutdown -h now');
        await eventually('it is off', async () => (await stage.runningVms()).length === 0);
        await sleep(stage.clock, 30_000);
        assert.ok(await stage.driver.get(vmNameOf(pod)), 'its disk is there as long as nobody knows of its end');
        stage.intercept = () => {};
        const ended = await stage.waitForPod(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 4);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('the agent converges after an outage during which Pods come and go', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const first = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        stage.intercept = () => {
          throw new KubeError('unreachable', 'no route to the server');
        };
        stage.dropConnections();
        await stage.deletePod(first);
        const second = await stage.pod();
        await sleep(stage.clock, 20_000);
        assert.deepEqual(await stage.runningVms(), [vmNameOf(first)]);
        stage.intercept = () => {};
        await stage.waitForPod(first, 'is gone', isGone);
        const running = await stage.waitForPod(second, 'is Running', isRunning);
        assert.deepEqual(await stage.runningVms(), [vmNameOf(running)]);
      },
      { speed: 20 },
    ));

  it('no step waits for the watch event of an own write (INC-29)', () =>
    withMac(async (stage) => {
      const pod = await stage.pod();
      const silence = Promise.withResolvers<void>();
      stage.intercept = (request) => (request.includes('watch=') ? silence.promise : undefined);
      stage.startAgent();
      const running = await stage.waitForPod(pod, 'is Running', isRunning);
      await runInGuest(stage, vmNameOf(running), 'shutdown -h now');
      await stage.waitForPod(
        pod,
        'has ended and let go',
        (seen) => hasEnded(seen) && !seen?.metadata.finalizers?.length,
      );
      silence.reject(new KubeError('unreachable', 'the connection broke'));
    }));

  it('the agent shuts down during an outage with pending writes', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const first = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        stage.tart.controls.guest('_', { bootMs: 1_000 });
        const second = await stage.pod();
        await eventually('it boots', async () => (await stage.runningVms()).length === 2);
        let asked = 0;
        stage.intercept = () => {
          asked += 1;
          throw new KubeError('unreachable', 'no route to the server');
        };
        stage.dropConnections();
        await runInGuest(stage, vmNameOf(first), 'shutdown -h now');
        const isTold = (text: string) =>
          stage.logs.some((line) => line.includes(text) && line.includes(second.metadata.uid));
        await eventually('one has ended', () => stage.logs.some((line) => line.includes('VM ended')));
        await eventually('one is up', () => isTold('"running"'));
        await stage.stopAgent();
        asked = 0;
        await sleep(stage.clock, 6_000);
        assert.equal(asked, 0);
        stage.intercept = () => {};
        stage.startAgent();
        await stage.waitForPod(second, 'is Running', isRunning);
        const ended = await stage.waitForPod(first, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
      },
      { speed: 10 },
    ));

  it('an unchanged status is not written again', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const pod = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        await sleep(stage.clock, 4_000);
        const written: string[] = [];
        stage.intercept = (request) => void (request.startsWith('GET ') || written.push(request));
        const from = stage.logs.length;
        for (let times = 0; times < 5; times += 1) {
          await touchPod(stage, pod);
          await eventually('it was looked at', () => stage.logs.length > from + times);
          await sleep(stage.clock, 2_000);
        }
        assert.deepEqual(written, []);
        const { metadata } = await stage.admin.get(pods, { name: pod.metadata.name, namespace: 'runners' });
        assert.ok(metadata.labels?.['nudge']);
      },
      { speed: 20 },
    ));
});
