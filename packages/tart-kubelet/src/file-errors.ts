import { readdir } from 'node:fs/promises';

/** Such as `ENOENT`. `undefined` for an error without a code. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** The result of `work`, or `undefined` for a missing file or folder. Rejects with every other error. */
export const undefinedIfMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** The entries of a folder; empty if it does not exist. */
export const listFolder = async (folder: string): Promise<string[]> =>
  (await undefinedIfMissing(readdir(folder))) ?? [];
