import { randomUUID } from 'node:crypto';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Suffix of temporary files, which are not records. */
export const temporarySuffix = '.tmp-';

/** Makes renames and removals in the folder survive a power failure. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Replaces a file atomically; the new content is durable once this resolves. */
export const writeFileAtomic = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}${temporarySuffix}${randomUUID()}`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
};
