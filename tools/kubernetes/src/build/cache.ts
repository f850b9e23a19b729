import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';

export const cacheFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  env['TARTAN_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tartan');

/** Hashes all inputs of a build. */
export const cacheKey = (parts: readonly string[]): string => {
  const hash = createHash('sha256');
  // The length in front keeps ["ab", "c"] and ["a", "bc"] apart.
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return hash.digest('hex').slice(0, 16);
};

const abandonedAfterMilliseconds = 24 * 60 * 60 * 1000;

/**
 * Fills `folder` with `fill`, unless it exists.
 *
 * Guarantees: an existing `folder` is always complete, even if several processes fill it at once or one of them dies. The first to finish
 * wins, and the others discard their work. A later call removes what a killed process left.
 */
export const fillOnce = async (folder: string, fill: (temporary: string) => Promise<void>): Promise<void> => {
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  removeAbandoned(folder);
  const temporary = `${folder}.${randomBytes(6).toString('hex')}.partial`;
  mkdirSync(temporary);
  try {
    await fill(temporary);
    moveUnlessThere(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
};

const moveUnlessThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another process was faster: rename never replaces a folder that is not empty.
    if (!existsSync(to)) throw error;
  }
};

const removeAbandoned = (folder: string): void => {
  const prefix = `${basename(folder)}.`;
  for (const name of readdirSync(dirname(folder))) {
    if (!name.startsWith(prefix) || !name.endsWith('.partial')) continue;
    const path = join(dirname(folder), name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (changed !== undefined && systemClock.now() - changed > abandonedAfterMilliseconds)
      rmSync(path, { recursive: true, force: true });
  }
};
