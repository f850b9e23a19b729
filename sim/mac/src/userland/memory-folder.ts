import { accessSync, constants, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where files cost least: in memory on Linux. */
const cheapest = (): string => {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
};

/** Of Macs that are up. A process that ends without stopping them takes these along: nobody would look for them there. */
const inUse = new Set<string>();
process.once('exit', () => {
  for (const folder of inUse) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, in memory where there is such a place, behind the link `link`. What an earlier one left behind is removed. */
export const makeMemoryFolder = (link: string): void => {
  removeMemoryFolder(link);
  const folder = mkdtempSync(join(cheapest(), 'tartan-calls-'));
  inUse.add(folder);
  symlinkSync(folder, link);
};

export const removeMemoryFolder = (link: string): void => {
  try {
    const folder = readlinkSync(link);
    rmSync(folder, { recursive: true, force: true });
    inUse.delete(folder);
  } catch {
    // There is none.
  }
  rmSync(link, { recursive: true, force: true });
};
