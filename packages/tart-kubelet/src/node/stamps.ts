import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder, undefinedIfMissing } from '../file-errors.ts';

/** Where the host steps leave what they have done. */
export const stampsFolder = '/var/db/tartan/steps';

/**
 * All stamps of this Mac in one short word, the same that the host steps make of them (`summaryOf` of packages/host). A Mac without a
 * stamp has a summary too. Rejects when they are there and cannot be read.
 */
export const readHostConfigHash = async (folder: string): Promise<string> => {
  const files = await listFolder(folder);
  const lines = await Promise.all(
    files
      // One that is just being written has a dot before its name.
      .filter((step) => !step.startsWith('.'))
      .map(async (step) => {
        const hash = await undefinedIfMissing(readFile(join(folder, step), 'utf8'));
        return hash === undefined ? '' : `${step}\t${hash.trimEnd()}\n`;
      }),
  );
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
};

/**
 * Calls back when the host steps have stamped something, so that nobody waits for the next look to learn that a push is through: the
 * agent starts in the middle of one. Only a hint: where a folder cannot be watched, or is not there yet, the next look finds it all.
 */
export const watchStamps = (folder: string, changed: () => void): (() => void) => {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, () => changed());
  } catch {
    return () => {};
  }
  watcher.on('error', () => watcher.close());
  return () => watcher.close();
};
