import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The old content or the new one, for whoever reads meanwhile. It is written in `root` and moved from there, so that a guest never sees
 * it half done. Not flushed to the disk: a power cut ends the guest as well, and the next run gets everything anew.
 */
export const placeFile = async (root: string, path: string, content: string | Uint8Array): Promise<void> => {
  const fresh = join(root, `new-${randomUUID()}`);
  try {
    await writeFile(fresh, content, { flag: 'wx', mode: 0o600 });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
};
