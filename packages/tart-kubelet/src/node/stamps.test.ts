import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { summaryOf } from '@tartan/host';
import { readHostConfigHash } from './stamps.ts';

const inFolder = async (story: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'stamps-'));
  try {
    await story(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe('the host config hash', () => {
  test('equals the hash of the host steps for any stamps', async () => {
    const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/);
    const stamps = fc.dictionary(name, fc.stringMatching(/^[0-9a-f]{64}$/), { maxKeys: 8 });
    await fc.assert(
      fc.asyncProperty(stamps, (given) =>
        inFolder(async (folder) => {
          for (const [step, hash] of Object.entries(given)) await writeFile(join(folder, step), `${hash}\n`);
          // A file that is being written.
          await writeFile(join(folder, '.new'), 'half');
          assert.equal(await readHostConfigHash(folder), summaryOf(given));
        }),
      ),
      { numRuns: 25 },
    );
  });

  test('of a Mac without a stamps folder is that of no stamps', () =>
    inFolder(async (folder) => assert.equal(await readHostConfigHash(join(folder, 'nowhere')), summaryOf({}))));

  test('fails for unreadable stamps', () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, 'a-folder-for-a-stamp'));
      await assert.rejects(readHostConfigHash(folder));
    }));
});
