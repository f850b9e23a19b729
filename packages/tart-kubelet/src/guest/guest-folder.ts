import { randomUUID } from 'node:crypto';
import { chmod, lstat, opendir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guestNames } from '@tartan/api';
import { errorCode, undefinedIfMissing } from '../file-errors.ts';

/** Allows the dots in the names of the original agent, so that its folders are found and removed. */
const vmPattern = /^[0-9A-Za-z][0-9A-Za-z._-]{0,254}$/;

export const isVmName = (name: string): boolean => vmPattern.test(name);

/** The files of one VM, below a folder that only the agent can enter. Only subfolders are shared, never the folder itself. */
export const guestFolderOf = (folder: string, vm: string) => {
  if (!isVmName(vm)) throw new Error(`${JSON.stringify(vm.slice(0, 64))} is no name of a virtual machine`);
  const root = join(folder, vm);
  return {
    root,
    env: join(root, guestNames.shares.env),
    status: join(root, guestNames.shares.status),
    volume: (name: string) => join(root, 'volumes', name),
    /** Expiry times of the tokens. Not shared. */
    tokenLifetimes: join(root, 'token-lives.json'),
  };
};

export type GuestFolder = ReturnType<typeof guestFolderOf>;

/**
 * Replaces a file atomically. It is written in `root` and renamed, so that a guest never sees a partial file. Not flushed to the disk:
 * a power failure ends the guest too, and the next run writes everything anew.
 */
export const replaceFile = async (root: string, path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = join(root, `new-${randomUUID()}`);
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** Deletes files and links (never a link's target), and calls `onFolder` for folders. Returns the number of both. */
const removeFiles = async (folder: string, onFolder: (path: string) => Promise<void>): Promise<number> => {
  let seen = 0;
  // Iterates, since a guest may have created millions of them.
  for await (const entry of await opendir(folder)) {
    seen += 1;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await onFolder(path);
    else await unlink(path);
  }
  return seen;
};

/**
 * Removes a folder that a guest could write to. A guest may nest folders until the path is too long, or remove all permissions; then an
 * ordinary removal fails, and the Pod could never terminate. So permissions are restored and folders are moved up, which keeps every
 * path short.
 *
 * Assumes that the guest is off. A missing folder is fine. Crash-safe: everything stays below `root`, so a retry continues.
 */
export const removeUntrustedFolder = async (root: string): Promise<void> => {
  const moveUp = async (path: string): Promise<void> => {
    // Moving a folder writes to it, since its parent changes.
    await chmod(path, 0o700);
    await rename(path, join(root, randomUUID()));
  };
  const empty = async (path: string): Promise<void> => {
    await chmod(path, 0o700);
    await removeFiles(path, moveUp);
    await rmdir(path).catch((error: unknown) => {
      // Some file systems skip entries while others are being removed; the next round finds them.
      if (errorCode(error) !== 'ENOTEMPTY') throw error;
    });
  };
  const found = await undefinedIfMissing(lstat(root));
  if (found === undefined) return;
  if (!found.isDirectory()) return unlink(root);
  while ((await removeFiles(root, empty)) > 0);
  await rmdir(root);
};
