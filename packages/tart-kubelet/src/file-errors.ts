import { readdir } from 'node:fs/promises';

/** Such as `ENOENT`. `undefined` for an error that has no code. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** What `work` gives, or `undefined` when there is no such file or folder. Rejects with every other error. */
export const undefinedIfMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** What is in a folder. Empty when there is no such folder. */
export const listFolder = async (folder: string): Promise<string[]> =>
  (await undefinedIfMissing(readdir(folder))) ?? [];
