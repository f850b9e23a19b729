import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createImageRecords, type ImageRecords } from './image-records.ts';

const image = { repository: 'ghcr.io/a/b', digest: `sha256:${'a'.repeat(64)}` };
const pinned = `${image.repository}@${image.digest}`;
const tag = 'ghcr.io/a/b:1';

describe('what is written down of images', () => {
  let folder: string;
  let marked: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-records-'));
    marked = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  /** Another life of the agent each time. */
  const records = (): ImageRecords =>
    createImageRecords({ folder: join(folder, 'records'), mark: async (...told) => void marked.push(told.join(' ')) });

  test('a base is ours once it is marked, and not before', async () => {
    assert.equal(await records().isMade('base'), false);
    await records().making('base', image);
    assert.deepEqual([await records().isBeingMade('base'), await records().isMade('base')], [true, false]);
    await records().made('base');
    assert.deepEqual([await records().isBeingMade('base'), await records().isMade('base')], [false, true]);
    await records().made('base');
    assert.deepEqual(marked, [`base ${pinned}`, `base ${pinned}`]);
    await records().forget('base');
    await records().forget('base');
    assert.equal(await records().isMade('base'), false);
  });

  test('a base of which nothing is written down is not marked as ours', async () => {
    await assert.rejects(records().made('base'), /Nothing is written down/);
    assert.deepEqual(marked, []);
  });

  test('a pull under a tag makes the digest ours, and leaves no intent', async () => {
    await records().fetching(tag, undefined);
    assert.deepEqual(await records().beingFetched(tag), { before: undefined });
    await records().fetched(tag, image);
    assert.deepEqual([await records().beingFetched(tag), await records().isMade(pinned)], [undefined, true]);
    assert.equal(readdirSync(join(folder, 'records')).length, 1);
  });

  test('a pull by digest, and one of what was here before', async () => {
    await records().fetching(pinned, undefined);
    await records().fetched(pinned, image);
    assert.equal(await records().isMade(pinned), true);
    await records().fetching(tag, image.digest);
    assert.deepEqual(await records().beingFetched(tag), { before: image.digest });
    await records().fetched(tag, undefined);
    assert.deepEqual([await records().beingFetched(tag), await records().isMade(pinned)], [undefined, true]);
  });

  test('what a crash left half written goes with the next word of it, or with the last', async () => {
    await records().making('base', image);
    const [file = ''] = readdirSync(join(folder, 'records'));
    const leaveHalf = (): void => writeFileSync(join(folder, 'records', `${file}.tmp-1`), '{');
    leaveHalf();
    await records().made('base');
    assert.deepEqual(readdirSync(join(folder, 'records')), [file]);
    leaveHalf();
    await records().forget('base');
    assert.deepEqual(readdirSync(join(folder, 'records')), []);
  });

  test('a file that cannot be understood is an error, not an absence', async () => {
    await records().making('base', image);
    const [file = ''] = readdirSync(join(folder, 'records'));
    writeFileSync(join(folder, 'records', file), '{');
    await assert.rejects(records().isMade('base'));
    await assert.rejects(records().isBeingMade('base'));
  });
});
