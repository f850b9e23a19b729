import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { type GoldenBase, type GoldenRequest, ImageError } from '../../images/golden-base.ts';
import { createImagePulls, imageWaitReason } from './pull-image.ts';

/** A registry whose answers the test gives, and what became of each request. */
const harness = () => {
  const requests: { request: GoldenRequest; end: PromiseWithResolvers<GoldenBase> }[] = [];
  const released: string[] = [];
  const news: string[] = [];
  const jobs = createImagePulls({
    ensureGolden: (request) => {
      const end = Promise.withResolvers<GoldenBase>();
      requests.push({ request, end });
      return end.promise;
    },
    changed: (uid) => void news.push(uid),
    log: createLogger({ write: () => {}, clock: manualClock(), level: 'error' }),
  });
  const golden = (name: string): GoldenBase => ({
    name,
    image: { repository: 'ghcr.io/a/b', digest: 'sha256:1' },
    from: 'warm',
    release: () => void released.push(name),
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const start = async (uid: string): Promise<void> => {
    jobs.start(uid, { image: 'ghcr.io/a/b:1', credentials: async () => undefined });
    await turns();
  };
  return { jobs, requests, released, news, golden, turns, start };
};
const never = new Promise<void>(() => {});

describe('image pulls for Pods', () => {
  it('report missing, pulling, and present with the digest', async () => {
    const { golden, jobs, news, requests, start, turns } = harness();
    assert.deepEqual(jobs.state('a'), { kind: 'missing' });
    await start('a');
    assert.deepEqual(jobs.state('a'), { kind: 'pulling' });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'disk', percent: 43, compressedGb: 1 } });
    assert.deepEqual(jobs.state('a'), { kind: 'pulling', percent: 43 });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'NVRAM' } });
    assert.deepEqual(jobs.state('a'), { kind: 'pulling', percent: 43 }, 'a percentage is not forgotten');
    requests[0]?.request.onProgress?.({ stage: 'cloning' });
    assert.deepEqual(jobs.state('a'), { kind: 'pulling', stage: 'cloning' });
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(jobs.state('a'), { kind: 'here', digest: 'sha256:1' });
    assert.equal(jobs.golden('a')?.name, 'base');
    assert.deepEqual(news, ['a', 'a', 'a', 'a']);
  });

  it('start once, however often they are requested', async () => {
    const { requests, start } = harness();
    await start('a');
    await start('a');
    assert.equal(requests.length, 1);
  });

  it('hold the golden base until it is cloned', async () => {
    const { golden, jobs, released, requests, start, turns } = harness();
    await start('a');
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(released, []);
    jobs.cancel('a');
    jobs.cancel('a');
    assert.deepEqual(released, ['base']);
    assert.deepEqual(jobs.state('a'), { kind: 'missing' });
  });

  it('a cancelled pull does not hold the golden base that arrives later', async () => {
    const { golden, jobs, news, released, requests, start, turns } = harness();
    await start('a');
    jobs.cancel('a');
    assert.equal(requests[0]?.request.signal.aborted, true);
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual([released, news], [['base'], []]);
  });

  it('a failure is returned once, and then the pull can start again', async () => {
    const { jobs, requests, start, turns } = harness();
    await start('a');
    requests[0]?.end.reject(new ImageError('ErrImageNeverPull', 'no'));
    await turns();
    assert.deepEqual(jobs.state('a'), { kind: 'missing' });
    assert.equal(imageWaitReason(jobs.takeFailure('a')), 'ErrImageNeverPull');
    assert.equal(jobs.takeFailure('a'), undefined);
    await start('a');
    assert.equal(requests.length, 2);
  });

  it('wait for a local image, not for a download', async () => {
    const { golden, jobs, requests, start, turns } = harness();
    let settled = 0;
    await start('warm');
    void jobs.waitBriefly('warm', never).then(() => (settled += 1));
    await turns();
    assert.equal(settled, 0);
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.equal(settled, 1);
    await start('cold');
    void jobs.waitBriefly('cold', never).then(() => (settled += 1));
    requests[1]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'manifest' } });
    await turns();
    assert.equal(settled, 2);
    await start('slow');
    await jobs.waitBriefly('slow', Promise.resolve());
  });

  it('report ErrImagePull for any other error', () => {
    assert.equal(imageWaitReason(new Error('the registry is on fire')), 'ErrImagePull');
  });
});
