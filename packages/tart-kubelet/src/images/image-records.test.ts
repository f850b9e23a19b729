import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createImageRecords, type ImageRecords } from './image-records.ts';

const image = { repository: 'ghcr.io/a/b', digest: `sha256:${'a'.repeat(64)}` };
const pinned = `${image.repository}@${image.digest}`;
const tag = 'ghcr.io/a/b:1';

describe('records of images on disk', () => {
  let folder: string;
  let marked: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-records-'));
    marked = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  /** A new agent process each time. */
  const records = (): ImageRecords =>
    createImageRecords({ folder: join(folder, 'records'), mark: async (...args) => void marked.push(args.join(' ')) });

  test('a golden base is owned once it has its marker', async () => {
    assert.equal(await records().isOwned('base'), false);
    await records().beginClone('base', image);
    assert.deepEqual([await records().isCloneUnfinished('base'), await records().isOwned('base')], [true, false]);
    await records().finishClone('base');
    assert.deepEqual([await records().isCloneUnfinished('base'), await records().isOwned('base')], [false, true]);
    await records().finishClone('base');
    assert.deepEqual(marked, [`base ${pinned}`, `base ${pinned}`]);
    await records().forget('base');
    await records().forget('base');
    assert.equal(await records().isOwned('base'), false);
  });

  test('a golden base without a record gets no marker', async () => {
    await assert.rejects(records().finishClone('base'), /Nothing is written down/);
    assert.deepEqual(marked, []);
  });

  test('a pull by tag makes the digest owned and removes the pull record', async () => {
    await records().beginPull(tag, undefined);
    assert.deepEqual(await records().unfinishedPull(tag), { before: undefined });
    await records().finishPull(tag, image);
    assert.deepEqual([await records().unfinishedPull(tag), await records().isOwned(pinned)], [undefined, true]);
    assert.equal(readdirSync(join(folder, 'records')).length, 1);
  });

  test('a pull by digest, and a pull of an existing image', async () => {
    await records().beginPull(pinned, undefined);
    await records().finishPull(pinned, image);
    assert.equal(await records().isOwned(pinned), true);
    await records().beginPull(tag, image.digest);
    assert.deepEqual(await records().unfinishedPull(tag), { before: image.digest });
    await records().finishPull(tag, undefined);
    assert.deepEqual([await records().unfinishedPull(tag), await records().isOwned(pinned)], [undefined, true]);
  });

  test('temporary files of a crash are removed by the next write or by forget', async () => {
    await records().beginClone('base', image);
    const [file = ''] = readdirSync(join(folder, 'records'));
    const leaveHalf = (): void => writeFileSync(join(folder, 'records', `${file}.tmp-1`), '{');
    leaveHalf();
    await records().finishClone('base');
    assert.deepEqual(readdirSync(join(folder, 'records')), [file]);
    leaveHalf();
    await records().forget('base');
    assert.deepEqual(readdirSync(join(folder, 'records')), []);
  });

  test('an unreadable record is an error, not a missing one', async () => {
    await records().beginClone('base', image);
    const [file = ''] = readdirSync(join(folder, 'records'));
    writeFileSync(join(folder, 'records', file), '{');
    await assert.rejects(records().isOwned('base'));
    await assert.rejects(records().isCloneUnfinished('base'));
  });
});
