import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createTart, type Tart } from '@tartan/tart';
import { createImageRecords, type ImageRecords } from './image-records.ts';
import { createLocalImages } from './local-images.ts';
import { withPullRecords } from './pulls.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'ghcr.io/team/runner';

describe('ownership of pulled images (B5)', () => {
  let folder: string;
  let fake: FakeTart;
  let tart: Tart;
  let records: ImageRecords;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-pull-'));
    fake = installFakeTart(folder);
    tart = createTart({
      path: fake.path,
      environment: { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home },
    });
    records = createImageRecords({ folder: join(folder, 'records'), mark: async () => {} });
    for (const [tag, letter] of [
      ['1', 'a'],
      ['2', 'b'],
    ] as const)
      fake.controls.image(`${repository}:${tag}`, { digest: digest(letter), percents: [100] });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const pull = (image: string, by: Pick<Tart, 'pull'> = tart): Promise<void> =>
    withPullRecords(by, createLocalImages(fake.home), records).pull(image);
  const isOurs = (letter: string): Promise<boolean> => records.isOwned(`${repository}@${digest(letter)}`);
  const killed: Pick<Tart, 'pull'> = { pull: () => Promise.reject(new Error('killed')) };

  test('an image that the agent pulled is owned, also after another pull', async () => {
    await pull(`${repository}:1`);
    await pull(`${repository}:1`);
    await pull(`${repository}@${digest('a')}`);
    assert.equal(await isOurs('a'), true);
    assert.equal(await isOurs('b'), false);
  });

  test('an image that others pulled is not owned when our tag moves to it', async () => {
    await pull(`${repository}:1`);
    await tart.pull(`${repository}:2`);
    fake.controls.image(`${repository}:1`, { digest: digest('b') });
    await pull(`${repository}:1`);
    assert.equal(await isOurs('b'), false);
  });

  test('an image that others pulled is not owned after the agent was killed before its own pull', async () => {
    await tart.pull(`${repository}:1`);
    await assert.rejects(pull(`${repository}:1`, killed), /killed/);
    await pull(`${repository}:1`);
    assert.equal(await isOurs('a'), false);
  });

  test('an image that arrived before the agent was killed is owned', async () => {
    const cut: Pick<Tart, 'pull'> = {
      pull: async (...args) => {
        await tart.pull(...args);
        throw new Error('killed');
      },
    };
    await assert.rejects(pull(`${repository}:1`, cut), /killed/);
    await pull(`${repository}:1`);
    assert.equal(await isOurs('a'), true);
  });
});
