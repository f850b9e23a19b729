import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { summaryOf } from '@tartan/host';
import { stampSummary } from './stamps.ts';

const inFolder = async (story: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'stamps-'));
  try {
    await story(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe('the summary of the stamps', () => {
  test('is that of the host steps, whatever they stamped', async () => {
    const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/);
    const stamps = fc.dictionary(name, fc.stringMatching(/^[0-9a-f]{64}$/), { maxKeys: 8 });
    await fc.assert(
      fc.asyncProperty(stamps, (given) =>
        inFolder(async (folder) => {
          for (const [step, hash] of Object.entries(given)) await writeFile(join(folder, step), `${hash}\n`);
          // One that is just being written.
          await writeFile(join(folder, '.new'), 'half');
          assert.equal(await stampSummary(folder), summaryOf(given));
        }),
      ),
      { numRuns: 25 },
    );
  });

  test('of a Mac that was never prepared is that of no stamps', () =>
    inFolder(async (folder) => assert.equal(await stampSummary(join(folder, 'nowhere')), summaryOf({}))));

  test('of stamps that cannot be read is none at all', () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, 'a-folder-for-a-stamp'));
      await assert.rejects(stampSummary(folder));
    }));
});
