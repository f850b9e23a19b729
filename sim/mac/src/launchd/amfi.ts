import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Apple Mobile File Integrity, as far as it kills code that was overwritten in place (INC-10).
 * The kernel caches the code directory of a file by its vnode from the first run on. Other bytes in the same inode no longer match, and the
 * next run is killed; a copy with a new inode is fine. Two of three real Macs do this; here all do.
 * Caveat: also applied to scripts, since stand-ins for Mach-O files are scripts here.
 */
export interface Amfi {
  /** Checked before each run of a file. False: it is killed. */
  allowsRun(file: string): boolean;
  /** A reboot empties the cache. */
  clear(): void;
}

const blockSize = 16_384;
const blocks = 64;

/**
 * A hash of the content: all of a file up to a megabyte, and 64 blocks of a larger one, from the first to the last. Two builds differ in
 * their header and in the signature at the end, and reading 100 MB at each start on each of 16 Macs would be slow.
 */
const fingerprint = (fd: number, size: number): string => {
  const hash = createHash('sha256').update(`${size}\n`);
  const block = Buffer.alloc(blockSize);
  const whole = size <= blockSize * blocks;
  const count = whole ? Math.ceil(size / blockSize) : blocks;
  for (let index = 0; index < count; index += 1) {
    const at = whole ? index * blockSize : Math.floor(((size - blockSize) * index) / (blocks - 1));
    hash.update(block.subarray(0, readSync(fd, block, 0, blockSize, at)));
  }
  return hash.digest('hex');
};

export const createAmfi = (): Amfi => {
  const seen = new Map<string, string>();
  return {
    allowsRun: (file) => {
      const fd = openSync(file, 'r');
      try {
        const { dev, ino, birthtimeNs, size } = fstatSync(fd, { bigint: true });
        // Linux reuses inode numbers; the birth time tells the files apart.
        const inode = `${dev}:${ino}:${birthtimeNs}`;
        const now = fingerprint(fd, Number(size));
        const before = seen.get(inode);
        if (before === undefined) seen.set(inode, now);
        return before === undefined || before === now;
      } finally {
        closeSync(fd);
      }
    },
    clear: () => seen.clear(),
  };
};
