import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { replaceFile } from '../replace-file.ts';

export interface Owner {
  readonly user: string;
  readonly group: string;
}

/**
 * Who owns which file, as the Mac sees it: really all of them belong to whoever runs the simulator. Kept by inode, so that a file that
 * is renamed keeps its owner; with the moment of its birth, because inodes are used again.
 */
export interface Owners {
  /** Of a real path. A symbolic link is not followed. */
  ownerOf(path: string): Owner;
  /** Follows no symbolic link. */
  change(path: string, to: Partial<Owner>): void;
  save(): void;
}

const key = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

/** `standard` says who owns a path that was never given to anybody. */
export const createOwners = (file: string, standard: (path: string) => Owner): Owners => {
  const known = new Map<string, Owner>();
  try {
    for (const [id, owner] of JSON.parse(readFileSync(file, 'utf8')) as [string, Owner][]) known.set(id, owner);
  } catch {
    // A Mac that never ran.
  }
  const ownerOf = (path: string): Owner => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return (stats && known.get(key(stats))) ?? standard(path);
  };
  return {
    ownerOf,
    change: (path, to) => {
      known.set(key(lstatSync(path)), { ...ownerOf(path), ...to });
    },
    save: () => replaceFile(file, JSON.stringify([...known])),
  };
};
