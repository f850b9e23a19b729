import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { MacUser, Tool, ToolResult } from '../machine.ts';
import { replaceAtomically } from '../replace-file.ts';

interface Owner {
  readonly user: string;
  readonly group: string;
}

/**
 * The owners of files, as the Mac sees them: all files really belong to the user of the simulator. By inode, so that a renamed file keeps
 * its owner; with the birth time, because inodes are reused. Each change is written at once, as on a disk.
 */
export interface Owners {
  /** Of a real path. Does not follow symbolic links. */
  ownerOf(path: string): Owner;
  /** Does not follow symbolic links. */
  change(path: string, to: Partial<Owner>): void;
  /** The disk was wiped. */
  clear(): void;
}

const inodeKey = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

type Line = readonly [id: string, owner: Owner];

const formatLines = (lines: Iterable<Line>): string => [...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

/** A line per change; the last one of a file counts. An incomplete line of a killed simulator was never acknowledged, so it is ignored. */
const readLines = (file: string): Line[] => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  } catch {
    // The Mac has never run.
    return [];
  }
};

/** `defaultOwnerOf` returns the owner of a path that was never changed. */
export const createOwners = (file: string, defaultOwnerOf: (path: string) => Owner): Owners => {
  const lines = readLines(file);
  const known = new Map<string, Owner>(lines);
  // Also removes an incomplete line, to which the next one would be appended.
  if (lines.length > 0) replaceAtomically(file, formatLines(known));
  const ownerOf = (path: string): Owner => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return (stats && known.get(inodeKey(stats))) ?? defaultOwnerOf(path);
  };
  return {
    ownerOf,
    change: (path, to) => {
      const id = inodeKey(lstatSync(path));
      const owner = { ...ownerOf(path), ...to };
      known.set(id, owner);
      appendFileSync(file, formatLines([[id, owner]]));
    },
    clear: () => {
      known.clear();
      rmSync(file, { force: true });
    },
  };
};

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}${sep}`);

/**
 * The owner of files that were never chowned: the user in their home and in temporary folders, otherwise root. The real creator is unknown:
 * a file that root creates in a home counts as the user's.
 */
export const defaultOwner =
  (root: string, user: string, isLoggedInAtConsole: () => boolean) =>
  (path: string): Owner => {
    const home = `${root}/Users/${user}`;
    if (path === home || isBelow(path, home)) return { user, group: 'staff' };
    if (path === `${root}/dev/console` && isLoggedInAtConsole()) return { user, group: 'staff' };
    const temporary = ['/tmp', '/private/tmp', '/var/tmp', '/private/var/tmp'].some((each) =>
      isBelow(path, root + each),
    );
    return { user: temporary ? user : 'root', group: 'wheel' };
  };

const knownGroups = new Set(['wheel', 'staff', 'admin', 'daemon', 'everyone', 'nobody']);

const pathsBelow = (path: string): string[] => {
  const here = lstatSync(path);
  return here.isDirectory() ? [path, ...readdirSync(path).flatMap((name) => pathsBelow(join(path, name)))] : [path];
};

/** chown(8) and chgrp(1): only root may change owners. */
export const createChown = (owners: Owners, user: MacUser): Readonly<Record<'chown' | 'chgrp', Tool>> => {
  const userName = (word: string): string | undefined => {
    if (word === 'root' || word === '0') return 'root';
    if (word === user.name || word === String(user.uid)) return user.name;
    return word === 'daemon' || word === 'nobody' ? word : undefined;
  };
  const groupName = (word: string): string | undefined =>
    ({ 0: 'wheel', 20: 'staff', 80: 'admin' })[word] ?? (knownGroups.has(word) ? word : undefined);

  const change =
    (name: 'chown' | 'chgrp'): Tool =>
    ({ args, cwd, asRoot }): ToolResult => {
      const options = args.filter(
        (arg, index) => arg.startsWith('-') && args.slice(0, index).every((each) => each.startsWith('-')),
      );
      const [whom = '', ...files] = args.slice(options.length);
      if (files.length === 0)
        return { code: 1, stderr: `usage: ${name} [-fhnvx] [-R [-H | -L | -P]] owner file ...\n` };
      const letters = options.join('');
      const [userWord = '', groupWord = ''] = name === 'chgrp' ? ['', whom] : whom.split(/[:.]/, 2);
      const to: { user?: string; group?: string } = {};
      if (userWord !== '') {
        const found = userName(userWord);
        if (found === undefined) return { code: 1, stderr: `${name}: ${userWord}: illegal user name\n` };
        to.user = found;
      }
      if (groupWord !== '') {
        const found = groupName(groupWord);
        if (found === undefined) return { code: 1, stderr: `${name}: ${groupWord}: illegal group name\n` };
        to.group = found;
      }
      const errors: string[] = [];
      for (const file of files) {
        const path = resolve(cwd, file);
        if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) === undefined) {
          errors.push(`${name}: ${file}: No such file or directory`);
          continue;
        }
        const direct = letters.includes('h') || !existsSync(path) ? path : realpathSync(path);
        for (const each of letters.includes('R') ? pathsBelow(direct) : [direct]) {
          if (!asRoot && differs(owners.ownerOf(each), to)) errors.push(`${name}: ${file}: Operation not permitted`);
          else owners.change(each, to);
        }
      }
      return errors.length === 0 ? { code: 0 } : { code: 1, stderr: `${errors.join('\n')}\n` };
    };

  return { chown: change('chown'), chgrp: change('chgrp') };
};

const differs = (now: Owner, to: Partial<Owner>): boolean =>
  (to.user !== undefined && to.user !== now.user) || (to.group !== undefined && to.group !== now.group);
