import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { KubeError, pods } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '../runs/testing/eventually.ts';
import { inGuest, nudge, vmOf } from './testing/looks.ts';
import { hasEnded, isGone, isRunning, onMac } from './testing/stage.ts';

const isStatusWrite = (request: string): boolean => /^PATCH .*\/pods\/[^/]+\/status/.test(request);

describe('a server that makes trouble', { timeout: 120_000 }, () => {
  it('somebody labels the Pod right before nearly every write of ours: its end is told all the same, and it runs once (G6, INC-18)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.guest('_', { program: 'shutdown -h now' });
        const pod = await stage.pod();
        let writes = 0;
        stage.intercept = async (request) => {
          if (!isStatusWrite(request)) return;
          writes += 1;
          if (writes % 7 !== 0) await nudge(stage, pod);
        };
        stage.start();
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
        assert.ok(ended.metadata.labels?.['nudge'], 'what the others wrote stays');
        await stage.until(pod, 'has no finalizer', (seen) => (seen?.metadata.finalizers ?? []).length === 0);
        await nudge(stage, pod);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('the end of a VM cannot be told for a while: nothing is thrown away, nothing boots again, and it is told later (G6)', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await stage.until(await stage.pod(), 'is Running', isRunning);
        stage.intercept = (request) => {
          if (isStatusWrite(request)) throw new KubeError('unreachable', 'no route to the server');
        };
        await inGuest(stage, vmOf(pod), 'echo 4 >"Volumes/My Shared Files/status/runner-rc"');
        await inGuest(stage, vmOf(pod), 'shutdown -h now');
        await eventually('it is off', async () => (await stage.live()).length === 0);
        await sleep(stage.clock, 30_000, AbortSignal.timeout(10_000));
        assert.ok(await stage.driver.get(vmOf(pod)), 'its disk is there as long as nobody knows of its end');
        stage.intercept = () => {};
        const ended = await stage.until(pod, 'has ended', hasEnded);
        assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 4);
        assert.equal(stage.tart.journal.calls('run').length, 1);
      },
      { speed: 20 },
    ));

  it('it is away while Pods come and go: all is as it should be once it is back', () =>
    onMac(
      async (stage) => {
        stage.start();
        const first = await stage.until(await stage.pod(), 'is Running', isRunning);
        stage.intercept = () => {
          throw new KubeError('unreachable', 'no route to the server');
        };
        stage.cut();
        await stage.delete(first);
        const second = await stage.pod();
        await sleep(stage.clock, 20_000, AbortSignal.timeout(10_000));
        assert.deepEqual(await stage.live(), [vmOf(first)]);
        stage.intercept = () => {};
        await stage.until(first, 'is gone', isGone);
        const running = await stage.until(second, 'is Running', isRunning);
        assert.deepEqual(await stage.live(), [vmOf(running)]);
      },
      { speed: 20 },
    ));

  it('its watch tells nothing after the first list: no step waits for the echo of an own write (INC-29)', () =>
    onMac(async (stage) => {
      const pod = await stage.pod();
      const silence = Promise.withResolvers<void>();
      stage.intercept = (request) => (request.includes('watch=') ? silence.promise : undefined);
      stage.start();
      const running = await stage.until(pod, 'is Running', isRunning);
      await inGuest(stage, vmOf(running), 'shutdown -h now');
      await stage.until(pod, 'has ended and let go', (seen) => hasEnded(seen) && !seen?.metadata.finalizers?.length);
      silence.reject(new KubeError('unreachable', 'the connection broke'));
    }));

  it('it is away when the agent is asked to end, with much still to tell: nothing of the agent goes on', () =>
    onMac(
      async (stage) => {
        stage.start();
        const first = await stage.until(await stage.pod(), 'is Running', isRunning);
        stage.tart.controls.guest('_', { bootMs: 1_000 });
        const second = await stage.pod();
        await eventually('it boots', async () => (await stage.live()).length === 2);
        let asked = 0;
        stage.intercept = () => {
          asked += 1;
          throw new KubeError('unreachable', 'no route to the server');
        };
        stage.cut();
        await inGuest(stage, vmOf(first), 'shutdown -h now');
        const isTold = (text: string) =>
          stage.logs.some((line) => line.includes(text) && line.includes(second.metadata.uid));
        await eventually('one has ended', () => stage.logs.some((line) => line.includes('has ended')));
        await eventually('one is up', () => isTold('"running"'));
        assert.ok(await Promise.race([stage.stop().then(() => true), setTimeout(5_000, false)]), 'it ends');
        asked = 0;
        await setTimeout(600);
        assert.equal(asked, 0);
        stage.intercept = () => {};
        stage.start();
        await stage.until(second, 'is Running', isRunning);
        const ended = await stage.until(first, 'has ended', hasEnded);
        assert.equal(ended.status?.phase, 'Succeeded');
      },
      { speed: 10 },
    ));

  it('a status that says all there is to say is not written again, however often the Pod is looked at (G15)', () =>
    onMac(
      async (stage) => {
        stage.start();
        const pod = await stage.until(await stage.pod(), 'is Running', isRunning);
        await sleep(stage.clock, 4_000, AbortSignal.timeout(10_000));
        const written: string[] = [];
        stage.intercept = (request) => void (request.startsWith('GET ') || written.push(request));
        const from = stage.logs.length;
        for (let times = 0; times < 5; times += 1) {
          await nudge(stage, pod);
          await eventually('it was looked at', () => stage.logs.length > from + times);
          await sleep(stage.clock, 2_000, AbortSignal.timeout(10_000));
        }
        assert.deepEqual(written, []);
        const { metadata } = await stage.admin.get(pods, { name: pod.metadata.name, namespace: 'runners' });
        assert.ok(metadata.labels?.['nudge']);
      },
      { speed: 20 },
    ));
});
