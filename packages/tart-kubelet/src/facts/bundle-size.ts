import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

/** Together they make a virtual machine, or the image of one (§7.2). */
const parts = ['config.json', 'disk.img', 'nvram.bin'];

/**
 * What a virtual machine takes on the disk: the blocks of its files, as a disk is far longer than what is written on it. `undefined` for
 * what is none, or cannot be read: nobody could run that.
 */
export const bundleSize = async (folder: string): Promise<number | undefined> => {
  try {
    const files = await Promise.all(parts.map((part) => lstat(join(folder, part))));
    return files.every((file) => file.isFile()) ? files.reduce((sum, { blocks }) => sum + blocks * 512, 0) : undefined;
  } catch {
    return undefined;
  }
};
