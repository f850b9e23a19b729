import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What is being written has this in its name, and is nobody's record. */
export const temporaryMark = '.tmp-';

/** So that a rename or a removal in it outlives a power cut as well. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
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
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
};
