import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withMissingPackages, type LockFile } from './complete-lock-file.ts';

/** Reports missing entries; `--fix` adds them. */

const path = join(import.meta.dirname, '../../../package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8')) as LockFile;
const { packages, missing } = withMissingPackages(lock.packages);

if (process.argv.includes('--fix')) {
  writeFileSync(path, `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
} else {
  for (const name of missing) process.stdout.write(`package-lock.json does not list ${name}, so that "npm ci" fails\n`);
  process.exitCode = missing.length === 0 ? 0 : 1;
}
