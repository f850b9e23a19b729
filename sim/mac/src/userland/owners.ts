import { appendFileSync, lstatSync, readFileSync, rmSync, type Stats } from 'node:fs';
import { replaceAtOnce } from '../replace-file.ts';

export interface Owner {
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
  forget(): void;
}

const key = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

type Line = readonly [id: string, owner: Owner];

const textOf = (lines: Iterable<Line>): string => [...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

/** A line per change; the last one of a file counts. What a killed simulator has not written to its end was never answered either. */
const read = (file: string): Line[] => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  } catch {
    // A Mac that never ran.
    return [];
  }
};

/** `standard` says who owns a path that was never given to anybody. */
export const createOwners = (file: string, standard: (path: string) => Owner): Owners => {
  const lines = read(file);
  const known = new Map<string, Owner>(lines);
  // Also takes away a line that was not written to its end, which the next one would be appended to.
  if (lines.length > 0) replaceAtOnce(file, textOf(known));
  const ownerOf = (path: string): Owner => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return (stats && known.get(key(stats))) ?? standard(path);
  };
  return {
    ownerOf,
    change: (path, to) => {
      const id = key(lstatSync(path));
      const owner = { ...ownerOf(path), ...to };
      known.set(id, owner);
      appendFileSync(file, textOf([[id, owner]]));
    },
    forget: () => {
      known.clear();
      rmSync(file, { force: true });
    },
  };
};
