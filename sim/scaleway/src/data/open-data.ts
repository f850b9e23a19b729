import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScalewayCopy } from '../scaleway.ts';
import { readCopy, writeCopy } from './read-copy.ts';

/** The folder in which Scaleway keeps what it knows. */
export interface Data {
  /** As it was kept last; nothing in a folder that is new. */
  readonly copy: ScalewayCopy | undefined;
  /** Kept when it returns. Whoever is killed in between leaves the copy before. */
  keep(copy: ScalewayCopy): void;
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const read = (file: string): ScalewayCopy | undefined => {
  try {
    return readCopy(readFileSync(file, 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The servers and keys that Scaleway kept in ${file} cannot be read: ${why}. Nothing was changed. Put a copy from a backup in its place, or move the file away to begin without servers and keys.`,
      { cause: error },
    );
  }
};

/** Opens the folder, which is made when missing. It holds passwords: only its owner reads the file. */
export const openData = (folder: string): Data => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'scaleway.json');
  return {
    copy: read(file),
    keep: (copy) => {
      const fresh = `${file}.new`;
      // One that was left behind would keep its mode.
      rmSync(fresh, { force: true });
      writeFileSync(fresh, writeCopy(copy), { mode: 0o600 });
      renameSync(fresh, file);
    },
  };
};
