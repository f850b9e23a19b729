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
 * Who owns which file, as the Mac sees it: really all of them belong to whoever runs the simulator. Kept by inode, so that a file that
 * is renamed keeps its owner; with the moment of its birth, because inodes are used again. Each change is in the file when it is made,
 * as it would be on a disk.
 */
export interface Owners {
  /** Of a real path. A symbolic link is not followed. */
  ownerOf(path: string): Owner;
  /** Follows no symbolic link. */
  change(path: string, to: Partial<Owner>): void;
  /** The disk is empty. */
  clear(): void;
}

const inodeKey = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

type Line = readonly [id: string, owner: Owner];

const formatLines = (lines: Iterable<Line>): string => [...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

/** A line per change; the last one of a file counts. What a killed simulator has not written to its end was never answered either. */
const readLines = (file: string): Line[] => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  } catch {
    // A Mac that never ran.
    return [];
  }
};

/** `standard` says who owns a path that was never given to anybody. */
export const createOwners = (file: string, defaultOwnerOf: (path: string) => Owner): Owners => {
  const lines = readLines(file);
  const known = new Map<string, Owner>(lines);
  // Also takes away a line that was not written to its end, which the next one would be appended to.
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
 * Who owns what nobody ever gave away: the user in their home and among temporary files, root elsewhere. Who really made a file is not
 * known here: what root leaves in a home counts as the user's.
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

/** chown(8) and chgrp(1): only root gives files away. */
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
