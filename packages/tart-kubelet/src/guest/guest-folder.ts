import { randomUUID } from 'node:crypto';
import { chmod, lstat, opendir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guestNames } from '@tartan/api';
import { errorCode, undefinedIfMissing } from '../file-errors.ts';

/** Also those of the original agent, which had dots in them: what it left behind can be found and removed. */
const vmPattern = /^[0-9A-Za-z][0-9A-Za-z._-]{0,254}$/;

export const isVmName = (name: string): boolean => vmPattern.test(name);

/** Everything of one virtual machine, below a folder that nobody but the agent enters. Only its parts are shared, never itself. */
export const guestFolderOf = (folder: string, vm: string) => {
  if (!isVmName(vm)) throw new Error(`${JSON.stringify(vm.slice(0, 64))} is no name of a virtual machine`);
  const root = join(folder, vm);
  return {
    root,
    env: join(root, guestNames.shares.env),
    status: join(root, guestNames.shares.status),
    volume: (name: string) => join(root, 'volumes', name),
    /** Until when tokens are good. Not shared. */
    tokenLifetimes: join(root, 'token-lives.json'),
  };
};

export type GuestFolder = ReturnType<typeof guestFolderOf>;

/**
 * The old content or the new one, for whoever reads meanwhile. It is written in `root` and moved from there, so that a guest never sees
 * it half done. Not flushed to the disk: a power cut ends the guest as well, and the next run gets everything anew.
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

/** Files go, links as well and never what they lead to; folders are handed on. Answers how many of both there were. */
const removeFiles = async (folder: string, onFolder: (path: string) => Promise<void>): Promise<number> => {
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
      // Some disks skip names while others are being removed; the next round sees them.
      if (errorCode(error) !== 'ENOTEMPTY') throw error;
    });
  };
  const found = await undefinedIfMissing(lstat(root));
  if (found === undefined) return;
  if (!found.isDirectory()) return unlink(root);
  while ((await removeFiles(root, empty)) > 0);
  await rmdir(root);
};
