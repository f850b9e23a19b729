import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder, undefinedIfMissing } from '../file-errors.ts';

/** Where the host steps record what they have done. */
export const stampsFolder = '/var/db/tartan/steps';

/**
 * One short hash of all stamps of this Mac, computed as the host steps do (`summaryOf` of packages/host). A Mac without stamps has a
 * hash too. Rejects when stamps exist and cannot be read.
 */
export const readHostConfigHash = async (folder: string): Promise<string> => {
  const files = await listFolder(folder);
  const lines = await Promise.all(
    files
      // The name of a file that is being written starts with a dot.
      .filter((step) => !step.startsWith('.'))
      .map(async (step) => {
        const hash = await undefinedIfMissing(readFile(join(folder, step), 'utf8'));
        return hash === undefined ? '' : `${step}\t${hash.trimEnd()}\n`;
      }),
  );
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
};

/**
 * Calls back when the host steps write a stamp, so that the end of a push is reported before the next poll: the agent starts in the
 * middle of a push. Only a hint: if the folder cannot be watched or does not exist yet, the next poll finds the stamps.
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
