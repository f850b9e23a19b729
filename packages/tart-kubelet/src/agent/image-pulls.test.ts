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
const ofImage = (harness: Harness, reference: string) =>
  harness.pod((spec) => {
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
      async (harness) => {
        const percents = [0, 43, 100];
        harness.tart.controls.image(image, { digest, percents, stallAt: 43 });
        harness.startAgent();
        const pod = await harness.pod();
        await harness.waitForPod(pod, 'is pulled', (seen) => waitingReason(seen) === 'Pulling 43 %');
        harness.tart.controls.image(image, { digest, percents });
        await harness.waitForPod(pod, 'is Running', isRunning);
        assert.deepEqual(eventReasonsOf(harness, pod), ['Pulling', 'Pulled', 'CreatingVM', 'Started']);
      },
      { speed: 20 },
    ));

  it('is still pulled for a second Pod when the first is deleted (INC-27)', () =>
    withMac(async (harness) => {
      const percents = [0, 50, 100];
      harness.tart.controls.image(image, { digest, percents, stallAt: 50 });
      harness.startAgent();
      const [one, two] = await Promise.all([harness.pod(), harness.pod()]);
      await harness.waitForPod(one, 'pulls', (seen) => waitingReason(seen)?.startsWith('Pulling') === true);
      await eventually('both wait', () => eventReasonsOf(harness, two).includes('Pulling'));
      await harness.deletePod(one);
      await harness.waitForPod(one, 'is gone', isGone);
      assert.equal(pulls(harness)[0]?.exitCode, undefined, 'the pull is not over');
      harness.tart.controls.image(image, { digest, percents });
      await harness.waitForPod(two, 'is Running', isRunning);
      assert.equal(pulls(harness).length, 1);
    }));

  for (const [whom, abandonPull] of [
    ['nobody waits for any more', (harness: Harness, pod: Live<Pod>) => harness.deletePod(pod)],
    ['the agent is fetching when it ends', (harness: Harness) => harness.stopAgent()],
  ] as const)
    it(`that ${whom} is not pulled to the end`, () =>
      withMac(
        async (harness) => {
          harness.tart.controls.image(image, { digest, percents: [0, 10], stallAt: 10 });
          harness.startAgent();
          const pod = await harness.pod();
          await harness.waitForPod(pod, 'pulls', (seen) => waitingReason(seen) === 'Pulling 10 %');
          const [{ pid } = { pid: 0 }] = pulls(harness);
          await abandonPull(harness, pod);
          await eventually('the pull has ended', () => !isAlive(pid));
        },
        { speed: 10 },
      ));

  it('does not delay other Pods while its pull is slow (INC-27)', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.image(other, { digest: otherDigest, percents: [0, 10], stallAt: 10 });
        harness.startAgent();
        const first = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        const slow = await ofImage(harness, other);
        await eventually('it is being pulled', () => pulls(harness).length === 2);
        await harness.deletePod(first);
        await harness.waitForPod(first, 'is gone', isGone);
        await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        await harness.waitForPod(slow, 'still pulls', (seen) => waitingReason(seen) === 'Pulling 10 %');
      },
      { speed: 10 },
    ));

  it('needs the imagePullSecret of the Pod, and is pulled once that exists', () =>
    withMac(
      async (harness) => {
        harness.tart.controls.image(other, { digest: otherDigest, credentials: 'robot:s3cret' });
        harness.startAgent();
        const pod = await harness.pod((spec) => {
          spec.containers = [{ name: 'runner', image: other }];
          spec.imagePullSecrets = [{ name: 'registry' }];
        });
        await harness.waitForPod(pod, 'is refused', (seen) =>
          /^(ErrImagePull|ImagePullBackOff)$/.test(waitingReason(seen) ?? ''),
        );
        assert.ok(eventReasonsOf(harness, pod).includes('FailedToRetrieveImagePullSecret'));
        const auths = { 'ghcr.io': { username: 'robot', password: 's3cret' } };
        await harness.admin.create(secrets, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'registry', namespace: 'runners' },
          type: 'kubernetes.io/dockerconfigjson',
          data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
        });
        await harness.waitForPod(pod, 'is Running', isRunning);
        assert.equal(pulls(harness).at(-1)?.registryUser, 'robot');
        assert.ok(!JSON.stringify([harness.events, harness.logs]).includes('s3cret'));
      },
      { speed: 20 },
    ));

  it('is not pulled again when a clone of its golden base fails (INC-47)', () =>
    withMac(
      async (harness) => {
        harness.startAgent();
        const first = await harness.waitForPod(await harness.pod(), 'is Running', isRunning);
        await harness.deletePod(first, 0);
        await harness.waitForPod(first, 'is gone', isGone);
        const deleted = harness.tart.journal.calls('delete').length;
        harness.tart.controls.command('clone', { answer: { code: 1, stderr: noSpaceTexts[0], times: 3 } });
        const second = await harness.pod();
        const refused = await harness.waitForPod(
          second,
          'is refused',
          (seen) => waitingReason(seen) === 'TartCreateFailed',
        );
        assert.equal(refused.status?.reason, 'TartCreateFailed');
        await harness.waitForPod(second, 'is Running', isRunning);
        assert.equal(pulls(harness).length, 1);
        assert.equal(harness.tart.journal.calls('delete').length, deleted);
      },
      { speed: 20 },
    ));
});
