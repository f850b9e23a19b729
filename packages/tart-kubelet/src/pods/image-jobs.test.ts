import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Golden, GoldenRequest } from '../images/golden.ts';
import { ImageError } from '../images/image-error.ts';
import { createImageJobs, imageReason } from './image-jobs.ts';

/** A registry whose answers the test gives, and what became of each request. */
const stage = () => {
  const requests: { request: GoldenRequest; end: PromiseWithResolvers<Golden> }[] = [];
  const released: string[] = [];
  const news: string[] = [];
  const jobs = createImageJobs({
    ensureGolden: (request) => {
      const end = Promise.withResolvers<Golden>();
      requests.push({ request, end });
      return end.promise;
    },
    changed: (uid) => void news.push(uid),
    log: createLogger({ write: () => {}, clock: manualClock(), level: 'error' }),
  });
  const golden = (name: string): Golden => ({
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

describe('images on their way to Pods', () => {
  it('is seen as missing, on its way, and here with the digest', async () => {
    const { golden, jobs, news, requests, start, turns } = stage();
    assert.deepEqual(jobs.sight('a'), { kind: 'missing' });
    await start('a');
    assert.deepEqual(jobs.sight('a'), { kind: 'pulling' });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'disk', percent: 43, compressedGb: 1 } });
    assert.deepEqual(jobs.sight('a'), { kind: 'pulling', percent: 43 });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'NVRAM' } });
    assert.deepEqual(jobs.sight('a'), { kind: 'pulling', percent: 43 }, 'a percentage is not forgotten');
    requests[0]?.request.onProgress?.({ stage: 'cloning' });
    assert.deepEqual(jobs.sight('a'), { kind: 'pulling', doing: 'cloning' });
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(jobs.sight('a'), { kind: 'here', digest: 'sha256:1' });
    assert.equal(jobs.golden('a')?.name, 'base');
    assert.deepEqual(news, ['a', 'a', 'a', 'a']);
  });

  it('asks once, however often it is started', async () => {
    const { requests, start } = stage();
    await start('a');
    await start('a');
    assert.equal(requests.length, 1);
  });

  it('the base is held until it was cloned from', async () => {
    const { golden, jobs, released, requests, start, turns } = stage();
    await start('a');
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(released, []);
    jobs.drop('a');
    jobs.drop('a');
    assert.deepEqual(released, ['base']);
    assert.deepEqual(jobs.sight('a'), { kind: 'missing' });
  });

  it('a Pod that is deleted meanwhile leaves, and the base that comes later is not held for it', async () => {
    const { golden, jobs, news, released, requests, start, turns } = stage();
    await start('a');
    jobs.drop('a');
    assert.equal(requests[0]?.request.signal.aborted, true);
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual([released, news], [['base'], []]);
  });

  it('a failure is told once, and then it may begin anew', async () => {
    const { jobs, requests, start, turns } = stage();
    await start('a');
    requests[0]?.end.reject(new ImageError('ErrImageNeverPull', 'no'));
    await turns();
    assert.deepEqual(jobs.sight('a'), { kind: 'missing' });
    assert.equal(imageReason(jobs.takeFailure('a')), 'ErrImageNeverPull');
    assert.equal(jobs.takeFailure('a'), undefined);
    await start('a');
    assert.equal(requests.length, 2);
  });

  it('one that is here is waited for, one that must be fetched is not', async () => {
    const { golden, jobs, requests, start, turns } = stage();
    let settled = 0;
    await start('warm');
    void jobs.settle('warm', never).then(() => (settled += 1));
    await turns();
    assert.equal(settled, 0);
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.equal(settled, 1);
    await start('cold');
    void jobs.settle('cold', never).then(() => (settled += 1));
    requests[1]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'manifest' } });
    await turns();
    assert.equal(settled, 2);
    await start('slow');
    await jobs.settle('slow', Promise.resolve());
  });

  it('says of any other error what a kubelet says', () => {
    assert.equal(imageReason(new Error('the registry is on fire')), 'ErrImagePull');
  });
});
