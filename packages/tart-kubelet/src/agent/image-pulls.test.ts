import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Live, secrets } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { noSpaceTexts } from '@tartan/sim-mac';
import type { Pod } from '../pods/snapshot.ts';
import { digest, type Harness, image, isGone, isRunning, withMac } from './testing/harness.ts';
import { eventReasonsOf, waitingReason } from './testing/pod-checks.ts';

const other = 'ghcr.io/example/other:1';
const otherDigest = `sha256:${'b'.repeat(64)}`;
const ofImage = (stage: Harness, reference: string) =>
  stage.pod((spec) => {
    spec.containers = [{ name: 'runner', image: reference }];
  });
const pulls = ({ tart }: Harness) => tart.journal.calls('pull');

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the image of a Pod', { timeout: 120_000 }, () => {
  it('reports pull progress, and an event for every step (INC-27)', () =>
    withMac(
      async (stage) => {
        const percents = [0, 43, 100];
        stage.tart.controls.image(image, { digest, percents, stallAt: 43 });
        stage.startAgent();
        const pod = await stage.pod();
        await stage.waitForPod(pod, 'is pulled', (seen) => waitingReason(seen) === 'Pulling 43 %');
        stage.tart.controls.image(image, { digest, percents });
        await stage.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(eventReasonsOf(stage, pod), ['Pulling', 'Pulled', 'CreatingVM', 'Started']);
      },
      { speed: 20 },
    ));

  it('is still pulled for a second Pod when the first is deleted (INC-27)', () =>
    withMac(async (stage) => {
      const percents = [0, 50, 100];
      stage.tart.controls.image(image, { digest, percents, stallAt: 50 });
      stage.startAgent();
      const [one, two] = await Promise.all([stage.pod(), stage.pod()]);
      await stage.waitForPod(one, 'pulls', (seen) => waitingReason(seen)?.startsWith('Pulling') === true);
      await eventually('both wait', () => eventReasonsOf(stage, two).includes('Pulling'));
      await stage.deletePod(one);
      await stage.waitForPod(one, 'is gone', isGone);
      assert.equal(pulls(stage)[0]?.exitCode, undefined, 'the pull is not over');
      stage.tart.controls.image(image, { digest, percents });
      await stage.waitForPod(two, 'is Running', isRunning);
      assert.equal(pulls(stage).length, 1);
    }));

  for (const [whom, leave] of [
    ['nobody waits for any more', (stage: Harness, pod: Live<Pod>) => stage.deletePod(pod)],
    ['the agent is fetching when it ends', (stage: Harness) => stage.stopAgent()],
  ] as const)
    it(`that ${whom} is not fetched to its end`, () =>
      withMac(
        async (stage) => {
          stage.tart.controls.image(image, { digest, percents: [0, 10], stallAt: 10 });
          stage.startAgent();
          const pod = await stage.pod();
          await stage.waitForPod(pod, 'pulls', (seen) => waitingReason(seen) === 'Pulling 10 %');
          const [{ pid } = { pid: 0 }] = pulls(stage);
          await leave(stage, pod);
          await eventually('the pull has ended', () => !isAlive(pid));
        },
        { speed: 10 },
      ));

  it('does not delay other Pods while its pull is slow (INC-27)', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.image(other, { digest: otherDigest, percents: [0, 10], stallAt: 10 });
        stage.startAgent();
        const first = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        const slow = await ofImage(stage, other);
        await eventually('it is being pulled', () => pulls(stage).length === 2);
        await stage.deletePod(first);
        await stage.waitForPod(first, 'is gone', isGone);
        await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        await stage.waitForPod(slow, 'still pulls', (seen) => waitingReason(seen) === 'Pulling 10 %');
      },
      { speed: 10 },
    ));

  it('needs the imagePullSecret of the Pod, and is pulled once that exists', () =>
    withMac(
      async (stage) => {
        stage.tart.controls.image(other, { digest: otherDigest, credentials: 'robot:s3cret' });
        stage.startAgent();
        const pod = await stage.pod((spec) => {
          spec.containers = [{ name: 'runner', image: other }];
          spec.imagePullSecrets = [{ name: 'registry' }];
        });
        await stage.waitForPod(pod, 'is refused', (seen) =>
          /^(ErrImagePull|ImagePullBackOff)$/.test(waitingReason(seen) ?? ''),
        );
        assert.ok(eventReasonsOf(stage, pod).includes('FailedToRetrieveImagePullSecret'));
        const auths = { 'ghcr.io': { username: 'robot', password: 's3cret' } };
        await stage.admin.create(secrets, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'registry', namespace: 'runners' },
          type: 'kubernetes.io/dockerconfigjson',
          data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
        });
        await stage.waitForPod(pod, 'is Running', isRunning);
        assert.equal(pulls(stage).at(-1)?.registryUser, 'robot');
        assert.ok(!JSON.stringify([stage.events, stage.logs]).includes('s3cret'));
      },
      { speed: 20 },
    ));

  it('is not pulled again when a clone of its golden base fails (INC-47)', () =>
    withMac(
      async (stage) => {
        stage.startAgent();
        const first = await stage.waitForPod(await stage.pod(), 'is Running', isRunning);
        await stage.deletePod(first, 0);
        await stage.waitForPod(first, 'is gone', isGone);
        const deleted = stage.tart.journal.calls('delete').length;
        stage.tart.controls.command('clone', { answer: { code: 1, stderr: noSpaceTexts[0], times: 3 } });
        const second = await stage.pod();
        const refused = await stage.waitForPod(
          second,
          'is refused',
          (seen) => waitingReason(seen) === 'TartCreateFailed',
        );
        assert.equal(refused.status?.reason, 'TartCreateFailed');
        await stage.waitForPod(second, 'is Running', isRunning);
        assert.equal(pulls(stage).length, 1);
        assert.equal(stage.tart.journal.calls('delete').length, deleted);
      },
      { speed: 20 },
    ));
});
