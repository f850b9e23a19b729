import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeTart, installFakeTart, noSpaceTexts } from '@tartan/sim-mac';
import { createTart, isTartError, type Tart } from '@tartan/tart';
import { createEnsureGolden, type EnsureGoldenOptions, type GoldenRequest } from './golden-base.ts';
import { createHolds } from './holds.ts';
import { goldenName } from './image-reference.ts';
import type { CloneRecords, PullRecords } from './image-records.ts';
import { createLocalImages } from './local-images.ts';
import { createPulls, withPullRecords } from './pulls.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'registry.local:5000/team/runner';
const tag = `${repository}:main`;

describe('the golden base of an image', () => {
  let folder: string;
  let fake: FakeTart;
  let tart: Tart;
  let written: string[];
  const records: CloneRecords & PullRecords = {
    beginClone: async (name) => void written.push(`making ${name}`),
    finishClone: async (name) => void written.push(`made ${name}`),
    beginPull: async (image) => void written.push(`fetching ${image}`),
    finishPull: async (image, made) => void written.push(`fetched ${image} ${made?.digest ?? 'by others'}`),
    unfinishedPull: async (image) =>
      written.includes(`fetching ${image}`) && !written.some((line) => line.startsWith(`fetched ${image} `))
        ? { before: undefined }
        : undefined,
    isCloneUnfinished: async (name) => written.includes(`making ${name}`) && !written.includes(`made ${name}`),
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-golden-'));
    fake = installFakeTart(folder);
    fake.controls.image(tag, { digest: digest('a'), percents: [0, 100] });
    tart = createTart({
      path: fake.path,
      environment: { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home },
    });
    written = [];
  });
  afterEach(() => {
    fake.powerOff();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const ensurer = (options: Partial<EnsureGoldenOptions> = {}) => {
    const local = createLocalImages(fake.home);
    const ensure = createEnsureGolden({
      tart,
      local,
      pulls: createPulls({ tart: withPullRecords(tart, local, records), limit: 2 }),
      holds: createHolds(),
      records,
      ...options,
    });
    return (request: Partial<GoldenRequest> = {}) =>
      ensure({ image: tag, signal: new AbortController().signal, ...request });
  };
  const golden = (letter: string): string => goldenName({ repository, digest: digest(letter) });
  const pulls = (): number => fake.journal.calls('pull').length;

  test('is pulled once and then reused, even without the cached image (INC-47)', async () => {
    const ensure = ensurer();
    const stages: string[] = [];
    const cold = await ensure({ onProgress: ({ stage }) => stages.push(stage) });
    assert.deepEqual([cold.name, cold.from], [golden('a'), 'pulled']);
    assert.ok(stages.includes('pulling') && stages.at(-1) === 'cloning');
    assert.deepEqual(written, [
      `fetching ${tag}`,
      `fetched ${tag} ${digest('a')}`,
      `making ${golden('a')}`,
      `made ${golden('a')}`,
    ]);
    assert.equal((await ensure()).from, 'warm');
    await tart.delete(`${repository}@${digest('a')}`);
    await tart.delete(tag);
    const image = `${repository}:x@${digest('a')}`;
    for (const policy of ['IfNotPresent', 'Always', 'Never'] as const)
      assert.equal((await ensure({ image, policy })).from, 'warm');
    assert.equal(pulls(), 1);
  });

  test('a tag that moved gets another base, if the policy asks for it (INC-424)', async () => {
    const ensure = ensurer();
    await ensure();
    fake.controls.image(tag, { digest: digest('b') });
    assert.equal((await ensure({ policy: 'IfNotPresent' })).name, golden('a'));
    const moved = await ensure({ policy: 'Always' });
    assert.deepEqual([moved.name, moved.image.digest], [golden('b'), digest('b')]);
  });

  test('Never does not pull, and an invalid name is reported as such', async () => {
    await assert.rejects(ensurer()({ policy: 'Never' }), { reason: 'ErrImageNeverPull' });
    await assert.rejects(ensurer()({ image: 'macos' }), { reason: 'InvalidImageName' });
    assert.equal(pulls(), 0);
  });

  test('an image that was present before is not owned (B5)', async () => {
    await tart.pull(tag);
    await ensurer()({ policy: 'Always' });
    assert.ok(written.includes(`fetched ${tag} by others`));
  });

  test('two Pods at once make one pull and one clone', async () => {
    const ensure = ensurer();
    const both = await Promise.all([ensure(), ensure()]);
    assert.deepEqual(both.map(({ from }) => from).sort(), ['pulled', 'warm']);
    assert.deepEqual([pulls(), fake.journal.calls('clone').length], [1, 1]);
  });

  test('a disk error is never read as a missing image (INC-49)', async () => {
    const ensure = ensurer();
    const { name } = await ensure();
    const config = join(fake.home, 'vms', name, 'config.json');
    rmSync(config);
    symlinkSync(config, config);
    await assert.rejects(ensure({ policy: 'IfNotPresent' }), { code: 'ELOOP' });
    assert.equal(pulls(), 1);
  });

  test('an existing base needs no tart command', async () => {
    const ensure = ensurer();
    await ensure();
    const before = fake.journal.calls().length;
    assert.equal((await ensure({ policy: 'IfNotPresent' })).from, 'warm');
    assert.equal(fake.journal.calls().length, before);
  });

  test('continues after the agent was killed at any step', async () => {
    const steps = ['fetching', 'pull', 'fetched', 'making', 'clone', 'made'];
    for (const [at, cut] of steps.entries()) {
      const image = `${repository}:cut-${at}`;
      fake.controls.image(image, { digest: digest(String(at)), percents: [100] });
      const killed = (name: string): void => {
        if (name === cut) throw new Error('killed');
      };
      const cutting: Partial<EnsureGoldenOptions> = {
        tart: { clone: async (...args) => (await tart.clone(...args), killed('clone')) },
        pulls: createPulls({
          limit: 1,
          tart: withPullRecords(
            { pull: async (...args) => (await tart.pull(...args), killed('pull')) },
            createLocalImages(fake.home),
            {
              ...records,
              beginPull: async (...args) => (await records.beginPull(...args), killed('fetching')),
              finishPull: async (...args) => (await records.finishPull(...args), killed('fetched')),
            },
          ),
        }),
        records: {
          ...records,
          beginClone: async (...args) => (await records.beginClone(...args), killed('making')),
          finishClone: async (name) => (await records.finishClone(name), killed('made')),
        },
      };
      await assert.rejects(ensurer(cutting)({ image }), /killed/, cut);
      const { name } = await ensurer()({ image });
      assert.equal(name, golden(String(at)));
      assert.equal(written.filter((line) => line === `made ${name}`).length, 1, cut);
      assert.ok(written.includes(`fetched ${image} ${digest(String(at))}`), cut);
      assert.equal(fake.journal.calls('clone').filter(({ argv }) => argv.includes(name)).length, 1, cut);
    }
  });

  test('an interrupted pull resumes: no tart command in between discards the partial download (INC-422)', async () => {
    const steps = { digest: digest('a'), percents: [0, 50, 100] };
    fake.controls.image(tag, { ...steps, failAt: { percent: 50, stderr: 'Error: the network is gone' } });
    const image = `${repository}@${digest('a')}`;
    await assert.rejects(ensurer()({ image }), /network/);
    fake.controls.image(tag, steps);
    const percents: number[] = [];
    await ensurer()({
      image,
      onProgress: (seen) => {
        if (seen.stage === 'pulling' && seen.progress.stage === 'disk') percents.push(seen.progress.percent);
      },
    });
    assert.deepEqual(percents, [0, 100], 'the half that was here is not fetched again');
  });

  for (const text of noSpaceTexts)
    test(`a full disk is freed once, and the pull tried again: ${text.slice(0, 60)}`, async () => {
      fake.controls.host({ noSpace: text });
      let freed = 0;
      const freeSpace = async (): Promise<void> => {
        freed += 1;
        fake.controls.host({ noSpace: undefined });
      };
      assert.equal((await ensurer({ freeSpace })()).from, 'pulled');
      assert.equal(freed, 1);
    });

  test('without a collector a full disk is an error at once (B3)', async () => {
    fake.controls.host({ noSpace: noSpaceTexts[0] });
    await assert.rejects(ensurer()(), (error) => isTartError(error, 'no space'));
    assert.equal(pulls(), 1);
  });

  test('a Pod with a pull secret gets an image that is refused to others', async () => {
    fake.controls.image(tag, { digest: digest('c'), credentials: 'me:hunter2', percents: [100] });
    const refused = await ensurer()().catch((error: unknown) => error);
    assert.ok(isTartError(refused, 'registry refused'));
    const credentials = { host: 'registry.local:5000', username: 'me', password: 'hunter2' };
    assert.equal((await ensurer()({ credentials })).name, golden('c'));
    const stages = JSON.stringify(fake.journal.calls().map(({ argv }) => argv));
    assert.doesNotMatch(stages, /hunter2/);
  });
});
