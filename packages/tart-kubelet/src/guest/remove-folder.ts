import { randomUUID } from 'node:crypto';
import { chmod, lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const isFolder = async (path: string): Promise<boolean | undefined> => {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

/** Files go, links as well and never what they lead to; folders are handed on. Answers how many of both there were. */
const clear = async (folder: string, onFolder: (path: string) => Promise<void>): Promise<number> => {
  let seen = 0;
  // One by one, since a guest may have made millions of them.
  for await (const entry of await opendir(folder)) {
    seen += 1;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await onFolder(path);
    else await unlink(path);
  }
  return seen;
};

/**
 * Removes a folder that a guest could write below, whatever it left there. A guest may nest folders until no path is long enough to name
 * the last, or take all rights from one; an ordinary removal stops there, and the Pod could never end. So folders are given rights and
 * moved up, and every path stays short.
 *
 * Assumption: the guest is off. Not there is fine. After a crash: the same again, as all of it is still below `root`.
 */
export const removeFolder = async (root: string): Promise<void> => {
  const moveUp = async (path: string): Promise<void> => {
    // Moving a folder writes to it, since its parent changes.
    await chmod(path, 0o700);
    await rename(path, join(root, randomUUID()));
  };
  const empty = async (path: string): Promise<void> => {
    await chmod(path, 0o700);
    await clear(path, moveUp);
    await rmdir(path).catch((error: unknown) => {
      // Some disks skip names while others are being removed; the next round sees them.
      if (!isCode(error, 'ENOTEMPTY')) throw error;
    });
  };
  const found = await isFolder(root);
  if (found === undefined) return;
  if (!found) return unlink(root);
  while ((await clear(root, empty)) > 0);
  await rmdir(root);
};
