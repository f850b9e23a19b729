import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Faults } from './faults.ts';

/** The smallest Mac mini of the M4 family. */
export const diskSize = 245_107_195_904;
const plenty = 150 * 1024 ** 3;
/** What files take is counted in these. */
export const block = 4096;

/** Bytes that the files below a folder take, in whole blocks. */
const usedBelow = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + usedBelow(path);
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return sum + Math.ceil(size / block) * block;
  }, 0);

/** The free space of a Mac. Measured only while the fault `diskFree` is on. */
export interface Disk {
  /** Never negative. */
  free(): number;
  used(): number;
  /** More was written than there was room for. */
  isOverfull(): boolean;
  /** The fault was changed: it speaks about the disk as it is now. */
  faultChanged(): void;
}

export const createDisk = (root: string, faults: Faults): Disk => {
  let usedThen = 0;
  const left = (): number => (faults.diskFree === undefined ? plenty : faults.diskFree - (usedBelow(root) - usedThen));
  return {
    free: () => Math.max(0, left()),
    used: () => usedBelow(root),
    isOverfull: () => left() < 0,
    faultChanged: () => {
      usedThen = faults.diskFree === undefined ? 0 : usedBelow(root);
    },
  };
};
