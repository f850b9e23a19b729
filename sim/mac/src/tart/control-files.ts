import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

let written = 0;

/** One value in one file, replaced at once, so that a call that reads it sees the old or the new one. `undefined` takes it away. */
export const writeControl = (folder: string, key: string, value: string | undefined): void => {
  const file = join(folder, key);
  if (value === undefined) {
    rmSync(file, { force: true, recursive: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.${written++}`;
  writeFileSync(fresh, value.endsWith('\n') ? value : `${value}\n`);
  renameSync(fresh, file);
};

/** Seconds for `sleep`, from milliseconds. */
export const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);
