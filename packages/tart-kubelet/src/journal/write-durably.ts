import { randomUUID } from 'node:crypto';
import { closeSync, fsync, openSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const flush = promisify(fsync);

/** What is being written has this in its name, and is nobody's record. */
export const temporaryMark = '.tmp-';

/**
 * So that a rename or a removal in it outlives a power cut as well. Only what may take long is waited for: each wait costs a start of a
 * virtual machine more than opening a folder does.
 */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = openSync(folder, 'r');
  try {
    await flush(handle);
  } finally {
    closeSync(handle);
  }
};

/** The old content or the new one, whatever happens meanwhile; the new one for good once this resolves. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const fresh = `${path}${temporaryMark}${randomUUID()}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      // All of it is on the disk, or of no use: nobody waits for this.
      file.close().catch(() => {});
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
};
