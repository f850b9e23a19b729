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

/** An empty folder, in memory where there is such a place, behind the link `link`. What an earlier one left behind is removed. */
export const makeMemoryFolder = (link: string): void => {
  removeMemoryFolder(link);
  symlinkSync(mkdtempSync(join(cheapest(), 'tartan-calls-')), link);
};

export const removeMemoryFolder = (link: string): void => {
  try {
    rmSync(readlinkSync(link), { recursive: true, force: true });
  } catch {
    // There is none.
  }
  rmSync(link, { recursive: true, force: true });
};
