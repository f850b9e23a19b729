import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Live, secrets } from '@tartan/kube';
import { noSpaceTexts } from '@tartan/sim-mac';
import type { Pod } from '../pods/snapshot.ts';
import { eventually } from '../runs/testing/eventually.ts';
import { toldOf, waitsFor } from './testing/looks.ts';
import { digest, image, isGone, isRunning, onMac, type Stage } from './testing/stage.ts';

const other = 'ghcr.io/example/other:1';
const otherDigest = `sha256:${'b'.repeat(64)}`;
const ofImage = (stage: Stage, reference: string) =>
  stage.pod((spec) => {
    spec.containers = [{ name: 'runner', image: reference }];
  });
const pulls = ({ tart }: Stage) => tart.journal.calls('pull');

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the image of a Pod', { timeout: 120_000 }, () => {
  it('says how far it is, and every step of the way has an event (INC-27)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.image(image, { digest, percents: [0, 43, 100], stepMs: 300 });
        stage.start();
        const pod = await stage.pod();
        const reasons = new Set<string>();
        await stage.until(pod, 'is Running', (seen) => {
          reasons.add(waitsFor(seen) ?? '');
          return isRunning(seen);
        });
        assert.ok(reasons.has('Pulling 43 %'), [...reasons].join());
        assert.deepEqual(toldOf(stage, pod), ['Pulling', 'Pulled', 'CreatingVM', 'Started']);
      },
      { speed: 20 },
    ));

  it('on its way to two Pods goes on when one of them is deleted, who is gone at once (G16)', () =>
    onMac(async (stage) => {
      stage.tart.controls.image(image, { digest, percents: [0, 50, 100], stepMs: 600 });
      stage.start();
      const [one, two] = await Promise.all([stage.pod(), stage.pod()]);
      await stage.until(one, 'pulls', (seen) => waitsFor(seen)?.startsWith('Pulling') === true);
      await eventually('both wait', () => toldOf(stage, two).includes('Pulling'));
      await stage.delete(one);
      await stage.until(one, 'is gone', isGone);
      assert.equal(pulls(stage)[0]?.exitCode, undefined, 'the pull is not over');
      await stage.until(two, 'is Running', isRunning);
      assert.equal(pulls(stage).length, 1);
    }));

  for (const [whom, leave] of [
    ['nobody waits for any more', (stage: Stage, pod: Live<Pod>) => stage.delete(pod)],
    ['the agent is fetching when it ends', (stage: Stage) => stage.stop()],
  ] as const)
    it(`that ${whom} is not fetched to its end`, () =>
      onMac(
        async (stage) => {
          stage.tart.controls.image(image, { digest, percents: [0, 10], stallAt: 10 });
          stage.start();
          const pod = await stage.pod();
          await stage.until(pod, 'pulls', (seen) => waitsFor(seen) === 'Pulling 10 %');
          const [{ pid } = { pid: 0 }] = pulls(stage);
          await leave(stage, pod);
          await eventually('the pull has ended', () => !isAlive(pid));
        },
        { speed: 10 },
      ));

  it('that is slow delays neither the end nor the start of another Pod (G16, INC-27)', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.image(other, { digest: otherDigest, percents: [0, 10], stallAt: 10 });
        stage.start();
        const first = await stage.until(await stage.pod(), 'is Running', isRunning);
        const slow = await ofImage(stage, other);
        await eventually('it is being pulled', () => pulls(stage).length === 2);
        await stage.delete(first);
        await stage.until(first, 'is gone', isGone);
        await stage.until(await stage.pod(), 'is Running', isRunning);
        await stage.until(slow, 'still pulls', (seen) => waitsFor(seen) === 'Pulling 10 %');
      },
      { speed: 10 },
    ));

  it('behind a login is refused with the reason, and fetched with the Secret that the Pod names once it is there', () =>
    onMac(
      async (stage) => {
        stage.tart.controls.image(other, { digest: otherDigest, credentials: 'robot:s3cret' });
        stage.start();
        const pod = await stage.pod((spec) => {
          spec.containers = [{ name: 'runner', image: other }];
          spec.imagePullSecrets = [{ name: 'registry' }];
        });
        await stage.until(pod, 'is refused', (seen) => /^(ErrImagePull|ImagePullBackOff)$/.test(waitsFor(seen) ?? ''));
        assert.ok(toldOf(stage, pod).includes('FailedToRetrieveImagePullSecret'));
        const auths = { 'ghcr.io': { username: 'robot', password: 's3cret' } };
        await stage.admin.create(secrets, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'registry', namespace: 'runners' },
          type: 'kubernetes.io/dockerconfigjson',
          data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
        });
        await stage.until(pod, 'is Running', isRunning);
        assert.equal(pulls(stage).at(-1)?.registryUser, 'robot');
        assert.ok(!JSON.stringify([stage.events, stage.logs]).includes('s3cret'));
      },
      { speed: 20 },
    ));

  it('is not fetched again because a clone of its base failed: the base stays (G12)', () =>
    onMac(
      async (stage) => {
        stage.start();
        const first = await stage.until(await stage.pod(), 'is Running', isRunning);
        await stage.delete(first, 0);
        await stage.until(first, 'is gone', isGone);
        const deleted = stage.tart.journal.calls('delete').length;
        stage.tart.controls.command('clone', { answer: { code: 1, stderr: noSpaceTexts[0], times: 3 } });
        const second = await stage.pod();
        const refused = await stage.until(second, 'is refused', (seen) => waitsFor(seen) === 'TartCreateFailed');
        assert.equal(refused.status?.reason, 'TartCreateFailed');
        await stage.until(second, 'is Running', isRunning);
        assert.equal(pulls(stage).length, 1);
        assert.equal(stage.tart.journal.calls('delete').length, deleted);
      },
      { speed: 20 },
    ));
});
