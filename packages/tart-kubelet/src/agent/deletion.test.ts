import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Live, pods } from '@tartan/kube';
import type { Pod } from '../pods/snapshot.ts';
import { eventually } from '../runs/testing/eventually.ts';
import { vmOf } from './testing/looks.ts';
import { isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const started = async (stage: Stage) => {
  stage.start();
  return stage.until(await stage.pod(), 'is Running', isRunning);
};
const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });
const vms = (stage: Stage): Promise<string[]> => readdir(join(stage.tart.home, 'vms'));
const hasNothingOf = async (stage: Stage, vm: string): Promise<void> => {
  assert.ok(!(await vms(stage)).includes(vm), 'its disk is gone');
  assert.deepEqual(await readdir(join(stage.folder, 'guests')), [], 'and what it was given');
};
/** Somebody takes the finalizer away and the Pod with it. */
const vanish = async (stage: Stage, pod: Live<Pod>): Promise<void> => {
  await stage.admin.patch(pods, nameOf(pod), { type: 'merge', body: { metadata: { finalizers: null } } });
  await stage.delete(pod, 0);
  await stage.until(pod, 'is gone', isGone);
};

describe('a Pod that is deleted', { timeout: 120_000 }, () => {
  it('by force is there until its VM is not, with no more than the rights of a Node: no VM runs without a Pod (INC-15, INC-16)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      assert.equal(pod.metadata.finalizers?.length, 1);
      await stage.delete(pod, 0);
      await stage.until(pod, 'is gone', isGone);
      assert.deepEqual(await stage.live(), []);
      await hasNothingOf(stage, vmOf(pod));
    }));

  it('after it has ended is not stuck Terminating (INC-17)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      await stage.stop();
      const body = { status: { phase: 'Succeeded' } };
      await stage.admin.patch(pods, nameOf(pod), { type: 'merge', body }, { subresource: 'status' });
      await stage.delete(pod, 30);
      const terminating = await stage.seen(pod);
      assert.ok(terminating?.metadata.deletionTimestamp && terminating.metadata.finalizers?.length === 1);
      stage.start();
      await stage.until(pod, 'is gone', isGone);
      assert.deepEqual(await stage.live(), []);
    }));

  it('whose VM somebody deleted by hand is not stuck Terminating (G2)', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        await stage.stop();
        stage.tart.unplug();
        await stage.driver.delete(vmOf(pod));
        await stage.delete(pod);
        stage.start();
        await stage.until(pod, 'is gone', isGone);
        await eventually('it is forgotten', async () => (await stage.journal.list()).length === 0);
        await hasNothingOf(stage, vmOf(pod));
      },
      { speed: 60 },
    ));

  it('without a record of it leaves neither its clone nor its secrets on the Mac (G4)', () =>
    onMac(async (stage) => {
      const pod = await started(stage);
      await stage.stop();
      stage.tart.unplug();
      await rm(join(stage.folder, 'journal'), { recursive: true });
      await stage.delete(pod);
      assert.ok((await vms(stage)).includes(vmOf(pod)));
      stage.start();
      await stage.until(pod, 'is gone', isGone);
      await hasNothingOf(stage, vmOf(pod));
    }));

  it('whose VM tart will not delete keeps its finalizer until it does (G2, INC-15)', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 2 } });
        await stage.delete(pod, 0);
        await stage.until(pod, 'is gone', isGone);
        assert.equal(stage.tart.journal.calls('delete').length, 3);
        await hasNothingOf(stage, vmOf(pod));
      },
      { speed: 20 },
    ));
});

describe('a Pod that is gone all of a sudden', { timeout: 120_000 }, () => {
  it('does not keep its slot: its VM is stopped and deleted after two minutes, and again until that works (G3, G5)', () =>
    onMac(
      async (stage) => {
        const pod = await started(stage);
        stage.tart.controls.command('delete', { answer: { code: 1, stderr: 'Error: busy', times: 3 } });
        await vanish(stage, pod);
        const since = stage.clock.monotonic();
        assert.deepEqual(await stage.live(), [vmOf(pod)]);
        await eventually('its VM is off', async () => (await stage.live()).length === 0);
        assert.ok(stage.clock.monotonic() - since >= 120_000 - 5_000, 'it had two minutes');
        await eventually('its disk is gone', async () => !(await vms(stage)).includes(vmOf(pod)));
        await eventually('it is forgotten', async () => (await stage.journal.list()).length === 0);
        await hasNothingOf(stage, vmOf(pod));
        assert.deepEqual(await readdir(join(stage.folder, 'logs')), [], 'its logs go with it');
      },
      { speed: 60 },
    ));

  it('is not gone because the server fails: its VM stays on (G5)', () =>
    onMac(
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
        assert.deepEqual(await stage.live(), [vmOf(pod)]);
        stage.intercept = () => {};
        await eventually('its VM is off', async () => (await stage.live()).length === 0);
      },
      { speed: 120 },
    ));
});
