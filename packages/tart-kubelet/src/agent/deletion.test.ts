import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Live, pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';
import { vmNameOf } from './testing/pod-checks.ts';

const started = async (stage: Harness) => {
  stage.startAgent();
  return stage.waitForPod(await stage.pod(), 'is Running', isRunning);
};
const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });
const vms = (stage: Harness): Promise<string[]> => readdir(join(stage.tart.home, 'vms'));
const hasNothingOf = async (stage: Harness, vm: string): Promise<void> => {
  assert.ok(!(await vms(stage)).includes(vm), 'its disk is gone');
  assert.deepEqual(await readdir(join(stage.folder, 'guests')), [], 'and what it was given');
};
/** Removes the finalizer, and so the Pod. */
const vanish = async (stage: Harness, pod: Live<Pod>): Promise<void> => {
  await stage.admin.patch(pods, nameOf(pod), { type: 'merge', body: { metadata: { finalizers: null } } });
  await stage.deletePod(pod, 0);
  await stage.waitForPod(pod, 'is gone', isGone);
};

describe('a Pod that is deleted', { timeout: 120_000 }, () => {
  it('stays until its VM is deleted even when deleted by force, with the permissions of a Node (INC-15, INC-16)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      assert.equal(pod.metadata.finalizers?.length, 1);
      await stage.deletePod(pod, 0);
      await stage.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await stage.runningVms(), []);
      await hasNothingOf(stage, vmNameOf(pod));
    }));

  it('is not stuck Terminating after it has ended (INC-17)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      await stage.stopAgent();
      const body = { status: { phase: 'Succeeded' } };
      await stage.admin.patch(pods, nameOf(pod), { type: 'merge', body }, { subresource: 'status' });
      await stage.deletePod(pod, 30);
      const terminating = await stage.getPod(pod);
      assert.ok(terminating?.metadata.deletionTimestamp && terminating.metadata.finalizers?.length === 1);
      stage.startAgent();
      await stage.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await stage.runningVms(), []);
    }));

  it('is not stuck Terminating when its VM was deleted by hand (INC-402)', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        await stage.stopAgent();
        stage.tart.powerOff();
        await stage.driver.delete(vmNameOf(pod));
        await stage.deletePod(pod);
        stage.startAgent();
        await stage.waitForPod(pod, 'is gone', isGone);
        await eventually('it is forgotten', async () => (await stage.journal.list()).uids.length === 0);
        await hasNothingOf(stage, vmNameOf(pod));
      },
      { speed: 60 },
    ));

  it('leaves neither its clone nor its secrets on the Mac when its record is missing (INC-404)', () =>
    withMac(async (stage) => {
      const pod = await started(stage);
      await stage.stopAgent();
      stage.tart.powerOff();
      await rm(join(stage.folder, 'journal'), { recursive: true });
      await stage.deletePod(pod);
      assert.ok((await vms(stage)).includes(vmNameOf(pod)));
      stage.startAgent();
      await stage.waitForPod(pod, 'is gone', isGone);
      await hasNothingOf(stage, vmNameOf(pod));
    }));

  it('keeps its finalizer until tart can delete its VM (INC-402, INC-15)', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 2 } });
        await stage.deletePod(pod, 0);
        await stage.waitForPod(pod, 'is gone', isGone);
        assert.equal(stage.tart.journal.calls('delete').length, 3);
        await hasNothingOf(stage, vmNameOf(pod));
      },
      { speed: 20 },
    ));
});

describe('a Pod that vanished from the API server', { timeout: 120_000 }, () => {
  it('frees its slot: its VM is stopped and deleted after two minutes, with retries (INC-405)', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 3 } });
        const since = stage.clock.monotonic();
        await vanish(stage, pod);
        await eventually('its VM is off', async () => (await stage.runningVms()).length === 0);
        assert.ok(stage.clock.monotonic() - since >= 120_000, 'it had two minutes');
        await eventually('its disk is gone', async () => !(await vms(stage)).includes(vmNameOf(pod)));
        await eventually('it is forgotten', async () => (await stage.journal.list()).uids.length === 0);
        await hasNothingOf(stage, vmNameOf(pod));
        assert.deepEqual(await readdir(join(stage.folder, 'logs')), [], 'its logs go with it');
      },
      { speed: 60 },
    ));

  it('keeps its VM while the API server fails (INC-405)', () =>
    withMac(
      async (stage) => {
        const pod = await started(stage);
        let asked = 0;
        stage.intercept = (request) => {
          if (!request.startsWith('GET ') || !request.includes(`/pods/${pod.metadata.name}`)) return;
          asked += 1;
          throw new Error('the server is not well');
        };
        await vanish(stage, pod);
        const since = stage.clock.monotonic();
        await eventually('it was asked for in vain', () => asked > 3 && stage.clock.monotonic() - since > 240_000);
        assert.deepEqual(await stage.runningVms(), [vmNameOf(pod)]);
        stage.intercept = () => {};
        await eventually('its VM is off', async () => (await stage.runningVms()).length === 0);
      },
      { speed: 120 },
    ));
});
