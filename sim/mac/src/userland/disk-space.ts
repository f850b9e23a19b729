import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Faults } from '../faults.ts';
import type { Tool } from '../machine.ts';
import type { ShellTool } from './tool-calls.ts';
import { quote, shellCallFunctions } from './tool-stubs.ts';

/** The smallest Mac mini of the M4 family. */
const diskSize = 245_107_195_904;
const defaultFreeBytes = 150 * 1024 ** 3;
/** The block size for used space. */
const block = 4096;

/** Bytes used by the files below a folder, in whole blocks. */
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
  /** More was written than there was space. */
  isOverfull(): boolean;
  /** The fault has changed: it refers to the current content of the disk. */
  faultChanged(): void;
}

export const createDisk = (root: string, faults: Faults): Disk => {
  let usedAtFault = 0;
  const left = (): number =>
    faults.diskFree === undefined ? defaultFreeBytes : faults.diskFree - (usedBelow(root) - usedAtFault);
  return {
    free: () => Math.max(0, left()),
    used: () => usedBelow(root),
    isOverfull: () => left() < 0,
    faultChanged: () => {
      usedAtFault = faults.diskFree === undefined ? 0 : usedBelow(root);
    },
  };
};

const blockUnits: Readonly<Record<string, { readonly bytes: number; readonly heading: string }>> = {
  b: { bytes: 512, heading: '512-blocks' },
  k: { bytes: 1024, heading: '1024-blocks' },
  m: { bytes: 1024 ** 2, heading: '1M-blocks' },
  g: { bytes: 1024 ** 3, heading: '1G-blocks' },
};

const human = (bytes: number): string => {
  const power = bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10);
  return `${Math.round(bytes / 1024 ** power)}${['B', 'Ki', 'Mi', 'Gi', 'Ti'][power] ?? ''}`;
};

/** df(1) of BSD, of the one volume of a Mac mini. */
export const createDf =
  (disk: Disk): Tool =>
  ({ args }) => {
    const letters = args.filter((arg) => arg.startsWith('-')).flatMap((arg) => arg.slice(1).split(''));
    const unknown = letters.find((letter) => !'bkmghHPlain'.includes(letter));
    if (unknown !== undefined)
      return {
        code: 64,
        stderr: `df: illegal option -- ${unknown}\nusage: df [-b | -g | -H | -h | -k | -m | -P] [file | filesystem ...]\n`,
      };
    const free = disk.free();
    const used = diskSize - free;
    const capacity = `${Math.ceil((used / diskSize) * 100)}%`;
    const unit = blockUnits[letters.findLast((letter) => letter in blockUnits) ?? 'b'];
    const inHuman = letters.includes('h') || letters.includes('H');
    const amount = (bytes: number): string =>
      inHuman || unit === undefined ? human(bytes) : String(Math.floor(bytes / unit.bytes));
    const heading = inHuman || unit === undefined ? 'Size' : unit.heading;
    const files = letters.includes('P') ? '' : ' iused ifree %iused ';
    const counts = letters.includes('P') ? '' : ` 426000 ${Math.floor(free / 4096)} 1% `;
    return {
      code: 0,
      stdout: `Filesystem ${heading} Used Available Capacity${files} Mounted on\n/dev/disk3s5 ${amount(diskSize)} ${amount(used)} ${amount(free)} ${capacity}${counts} /System/Volumes/Data\n`,
    };
  };

/** The real tools that write files. Writes of the shell itself are not checked: `echo x >file` always has space. */
export const fileWritingTools: readonly string[] = ['cat', 'cp', 'dd', 'gunzip', 'gzip', 'tar', 'tee'];

/**
 * A writer on a disk with limited space: runs with a file size limit, and prints the error of a Mac. As on a Mac the target is truncated
 * before. A writer of many files fails only at the end.
 */
export const writerWithSpaceLimit = (real: string, name: string): string => `#!/bin/sh
${shellCallFunctions(real)}
call disk.room
exec 3<&-
{
  code=$({
    {
      trap '' XFSZ
      ulimit -f "$room"
      code=0
      ${quote(join(real, name))} "$@" 2>&1 >&4 4>&- 5>&- || code=$?
      echo "$code" >&5
    } | ${quote(join(real, 'sed'))} 's/File too large/No space left on device/' >&2 4>&-
  } 5>&1)
} 4>&1
[ "$code" = 0 ] || exit "$code"
call disk.overfull ${name} "$used"
`;

export const diskSpaceTools = (disk: Disk): Readonly<Record<'disk.room' | 'disk.overfull', ShellTool>> => ({
  // POSIX counts ulimit -f in blocks of 512 bytes.
  'disk.room': () => ({ shell: `room=$((${Math.floor(disk.free() / block)} * ${block / 512})) used=${disk.used()}` }),
  'disk.overfull': ({ args: [name, usedBefore] }) =>
    disk.isOverfull() && disk.used() > Number(usedBefore)
      ? { code: 1, stderr: `${name}: write error: No space left on device\n` }
      : { code: 0 },
});
