import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Live, pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import type { Pod } from '../pods/snapshot.ts';
import { type Harness, isGone, isRunning, withMac } from './testing/harness.ts';
import { vmNameOf } from './testing/pod-checks.ts';

const started = async (harness: Harness) => {
  harness.startAgent();
  return harness.waitForPod(await harness.pod(), 'is Running', isRunning);
};
const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });
const vms = (harness: Harness): Promise<string[]> => readdir(join(harness.tart.home, 'vms'));
const hasNothingOf = async (harness: Harness, vm: string): Promise<void> => {
  assert.ok(!(await vms(harness)).includes(vm), 'its disk is gone');
  assert.deepEqual(await readdir(join(harness.folder, 'guests')), [], 'and what it was given');
};
/** Removes the finalizer, and so the Pod. */
const vanish = async (harness: Harness, pod: Live<Pod>): Promise<void> => {
  await harness.admin.patch(pods, nameOf(pod), { type: 'merge', body: { metadata: { finalizers: null } } });
  await harness.deletePod(pod, 0);
  await harness.waitForPod(pod, 'is gone', isGone);
};

describe('a Pod that is deleted', { timeout: 120_000 }, () => {
  it('stays until its VM is deleted even when deleted by force, with the permissions of a Node (INC-15, INC-16)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      assert.equal(pod.metadata.finalizers?.length, 1);
      await harness.deletePod(pod, 0);
      await harness.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await harness.runningVms(), []);
      await hasNothingOf(harness, vmNameOf(pod));
    }));

  it('is not stuck Terminating after it has ended (INC-17)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      await harness.stopAgent();
      const body = { status: { phase: 'Succeeded' } };
      await harness.admin.patch(pods, nameOf(pod), { type: 'merge', body }, { subresource: 'status' });
      await harness.deletePod(pod, 30);
      const terminating = await harness.getPod(pod);
      assert.ok(terminating?.metadata.deletionTimestamp && terminating.metadata.finalizers?.length === 1);
      harness.startAgent();
      await harness.waitForPod(pod, 'is gone', isGone);
      assert.deepEqual(await harness.runningVms(), []);
    }));

  it('is not stuck Terminating when its VM was deleted by hand (INC-402)', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        await harness.stopAgent();
        harness.tart.powerOff();
        await harness.driver.delete(vmNameOf(pod));
        await harness.deletePod(pod);
        harness.startAgent();
        await harness.waitForPod(pod, 'is gone', isGone);
        await eventually('it is forgotten', async () => (await harness.journal.list()).uids.length === 0);
        await hasNothingOf(harness, vmNameOf(pod));
      },
      { speed: 60 },
    ));

  it('leaves neither its clone nor its secrets on the Mac when its record is missing (INC-404)', () =>
    withMac(async (harness) => {
      const pod = await started(harness);
      await harness.stopAgent();
      harness.tart.powerOff();
      await rm(join(harness.folder, 'journal'), { recursive: true });
      await harness.deletePod(pod);
      assert.ok((await vms(harness)).includes(vmNameOf(pod)));
      harness.startAgent();
      await harness.waitForPod(pod, 'is gone', isGone);
      await hasNothingOf(harness, vmNameOf(pod));
    }));

  it('keeps its finalizer until tart can delete its VM (INC-402, INC-15)', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        harness.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 2 } });
        await harness.deletePod(pod, 0);
        await harness.waitForPod(pod, 'is gone', isGone);
        assert.equal(harness.tart.journal.calls('delete').length, 3);
        await hasNothingOf(harness, vmNameOf(pod));
      },
      { speed: 20 },
    ));
});

describe('a Pod that vanished from the API server', { timeout: 120_000 }, () => {
  it('frees its slot: its VM is stopped and deleted after two minutes, with retries (INC-405)', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        harness.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 3 } });
        const since = harness.clock.monotonic();
        await vanish(harness, pod);
        await eventually('its VM is off', async () => (await harness.runningVms()).length === 0);
        assert.ok(harness.clock.monotonic() - since >= 120_000, 'it had two minutes');
        await eventually('its disk is gone', async () => !(await vms(harness)).includes(vmNameOf(pod)));
        await eventually('it is forgotten', async () => (await harness.journal.list()).uids.length === 0);
        await hasNothingOf(harness, vmNameOf(pod));
        assert.deepEqual(await readdir(join(harness.folder, 'logs')), [], 'its logs go with it');
      },
      { speed: 60 },
    ));

  it('keeps its VM while the API server fails (INC-405)', () =>
    withMac(
      async (harness) => {
        const pod = await started(harness);
        let asked = 0;
        harness.intercept = (request) => {
          if (!request.startsWith('GET ') || !request.includes(`/pods/${pod.metadata.name}`)) return;
          asked += 1;
          throw new Error('the server is not well');
        };
        await vanish(harness, pod);
        const since = harness.clock.monotonic();
        await eventually('it was asked for in vain', () => asked > 3 && harness.clock.monotonic() - since > 240_000);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(pod)]);
        harness.intercept = () => {};
        await eventually('its VM is off', async () => (await harness.runningVms()).length === 0);
      },
      { speed: 120 },
    ));
});
