import { readdir } from 'node:fs/promises';

/** What is in a folder. None when there is no such folder: tart makes its own when it needs them. */
export const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};
