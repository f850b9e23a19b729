import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GoldenBase, type GoldenRequest, ImageError } from '../../images/golden-base.ts';
import { createImagePull, imageWaitReason } from './pull-image.ts';

/** A registry with scripted results, and the recorded requests. */
const harness = () => {
  const requests: { request: GoldenRequest; end: PromiseWithResolvers<GoldenBase> }[] = [];
  const released: string[] = [];
  let changes = 0;
  const pull = createImagePull(
    (request) => {
      const end = Promise.withResolvers<GoldenBase>();
      requests.push({ request, end });
      return end.promise;
    },
    () => {
      changes += 1;
    },
  );
  const golden = (name: string): GoldenBase => ({
    name,
    image: { repository: 'ghcr.io/a/b', digest: 'sha256:1' },
    from: 'warm',
    release: () => void released.push(name),
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const start = async (): Promise<void> => {
    pull.start({ image: 'ghcr.io/a/b:1', credentials: async () => undefined });
    await turns();
  };
  return { pull, requests, released, changes: () => changes, golden, turns, start };
};

describe('image pulls for Pods', () => {
  it('report missing, pulling, and present with the digest', async () => {
    const { changes, golden, pull, requests, start, turns } = harness();
    assert.deepEqual(pull.state(), { kind: 'missing' });
    await start();
    assert.deepEqual(pull.state(), { kind: 'pulling' });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'disk', percent: 43 } });
    assert.deepEqual(pull.state(), { kind: 'pulling', percent: 43 });
    requests[0]?.request.onProgress?.({ stage: 'pulling', progress: { stage: 'NVRAM' } });
    assert.deepEqual(pull.state(), { kind: 'pulling', percent: 43 }, 'a percentage is not forgotten');
    requests[0]?.request.onProgress?.({ stage: 'cloning' });
    assert.deepEqual(pull.state(), { kind: 'pulling', stage: 'cloning' });
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(pull.state(), { kind: 'here', digest: 'sha256:1' });
    assert.equal(pull.golden()?.name, 'base');
    assert.equal(changes(), 4);
  });

  it('start once, however often they are requested', async () => {
    const { requests, start } = harness();
    await start();
    await start();
    assert.equal(requests.length, 1);
  });

  it('hold the golden base until it is cloned', async () => {
    const { golden, pull, released, requests, start, turns } = harness();
    await start();
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual(released, []);
    pull.cancel();
    pull.cancel();
    assert.deepEqual(released, ['base']);
    assert.deepEqual(pull.state(), { kind: 'missing' });
  });

  it('a cancelled pull does not hold the golden base that arrives later', async () => {
    const { changes, golden, pull, released, requests, start, turns } = harness();
    await start();
    pull.cancel();
    assert.equal(requests[0]?.request.signal.aborted, true);
    requests[0]?.end.resolve(golden('base'));
    await turns();
    assert.deepEqual([released, changes()], [['base'], 0]);
  });

  it('a failure is returned once, and then the pull can start again', async () => {
    const { pull, requests, start, turns } = harness();
    await start();
    requests[0]?.end.reject(new ImageError('ErrImageNeverPull', 'no'));
    await turns();
    assert.deepEqual(pull.state(), { kind: 'missing' });
    assert.equal(imageWaitReason(pull.takeFailure()), 'ErrImageNeverPull');
    assert.equal(pull.takeFailure(), undefined);
    await start();
    assert.equal(requests.length, 2);
  });

  for (const [what, happen] of [
    ['the image is found', ({ end }, golden) => end.resolve(golden)],
    ['a download begins', ({ request }) => request.onProgress?.({ stage: 'pulling', progress: { stage: 'manifest' } })],
  ] as [string, (request: ReturnType<typeof harness>['requests'][number], golden: GoldenBase) => void][])
    it(`have started when ${what}`, async () => {
      const { golden, pull, requests, start, turns } = harness();
      let started = false;
      await start();
      void pull.started()?.then(() => {
        started = true;
      });
      await turns();
      assert.equal(started, false);
      const [request] = requests;
      assert.ok(request);
      happen(request, golden('base'));
      await turns();
      assert.equal(started, true);
    });

  it('report ErrImagePull for any other error', () => {
    assert.equal(imageWaitReason(new Error('the registry is on fire')), 'ErrImagePull');
  });
});
