import { randomUUID } from 'node:crypto';
import { closeSync, fsync, openSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const flush = promisify(fsync);

/** What is being written has this in its name, and is nobody's record. */
export const temporarySuffix = '.tmp-';

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

/** A new content that is on the disk beside the old one, which is still the one that counts. */
export interface StagedWrite {
  /** The old content or the new one, whatever happens meanwhile; the new one for good once this resolves. */
  commit(): Promise<void>;
  /** Nobody wants it any more. */
  discard(): Promise<void>;
}

/** All of a write that may be done before its time comes. */
export const stageFileWrite = async (path: string, text: string): Promise<StagedWrite> => {
  const fresh = `${path}${temporarySuffix}${randomUUID()}`;
  const discard = (): Promise<void> => rm(fresh, { force: true });
  const discarding = async (error: unknown): Promise<never> => {
    await discard();
    throw error;
  };
  const write = async (): Promise<void> => {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      // All of it is on the disk, or of no use: nobody waits for this.
      file.close().catch(() => {});
    }
  };
  await write().catch(discarding);
  return {
    commit: async () => {
      await rename(fresh, path).catch(discarding);
      await syncFolder(dirname(path));
    },
    discard,
  };
};

/** The old content or the new one, whatever happens meanwhile; the new one for good once this resolves. */
export const writeFileAtomic = async (path: string, text: string): Promise<void> => {
  const aside = await stageFileWrite(path, text);
  await aside.commit();
};
