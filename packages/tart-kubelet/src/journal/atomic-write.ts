import { randomUUID } from 'node:crypto';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What is being written has this in its name, and is nobody's record. */
export const temporarySuffix = '.tmp-';

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
