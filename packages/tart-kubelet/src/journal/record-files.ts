import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@tartan/kube';
import type * as z from 'zod/mini';
import { errorCode, listFolder, undefinedIfMissing } from '../file-errors.ts';
import { parseJson } from '../parse-json.ts';
import { syncFolder, temporarySuffix, writeFileAtomic } from './atomic-write.ts';

interface RecordFilesOptions<T> {
  readonly folder: string;
  readonly schema: z.ZodMiniType<T>;
  /** The file name of a record. Throws for an invalid key. */
  readonly fileOf: (key: string) => string;
  /** Other files are ignored. */
  readonly filePattern: RegExp;
  readonly keyOf: (record: T) => string;
}

/** Records have some hundred bytes; a message of tart may add a few thousand. */
const maxRecordBytes = 256 * 1024;

/** Does not follow a link or block on a pipe. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Synchronous: it takes less than a turn of the event loop. Every observation of a Pod reads all records, and each asynchronous call would
 * keep native memory until the next collection.
 */
const readSmallFile = (path: string): string => {
  const file = openSync(path, openFlags);
  try {
    if (fstatSync(file).size > maxRecordBytes) throw new Error('it is too long');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
};

/**
 * Small persistent records: a folder with one JSON file per key.
 *
 * Guarantees: writes are atomic, and durable once resolved. Assumptions: one agent writes here; one caller at a time per key.
 */
export const createRecordFiles = <T>({ folder, schema, fileOf, filePattern, keyOf }: RecordFilesOptions<T>) => {
  const readRecord = async (file: string): Promise<T | undefined> => {
    const path = join(folder, file);
    let record: T | undefined;
    try {
      record = parseJson(schema, readSmallFile(path));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw new Error(`${path} cannot be read: ${errorMessage(error)}`, { cause: error });
    }
    // A copy under another name would count for the wrong key.
    if (record !== undefined && fileOf(keyOf(record)) === file) return record;
    throw new Error(`${path} cannot be read: it holds no record of this name`);
  };
  /** Removes temporary files of this record that a crash left. */
  const removeTemporaryFiles = async (key: string): Promise<void> => {
    const half = `${fileOf(key)}${temporarySuffix}`;
    for (const file of await listFolder(folder))
      if (file.startsWith(half)) await rm(join(folder, file), { force: true });
  };
  return {
    /** Rejects when the folder cannot be read. `problems`: why some records cannot be read. */
    list: async () => {
      const files = (await listFolder(folder)).filter((file) => filePattern.test(file));
      const found = await Promise.allSettled(files.map(readRecord));
      return {
        files,
        records: found.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : [])),
        problems: found.flatMap((one) => (one.status === 'rejected' ? [errorMessage(one.reason)] : [])),
      };
    },
    /** `undefined`: no record. Rejects with the reason when it cannot be read. */
    read: async (key: string) => readRecord(fileOf(key)),
    write: async (record: T) => {
      const key = keyOf(record);
      const path = join(folder, fileOf(key));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await removeTemporaryFiles(key);
      await writeFileAtomic(path, `${JSON.stringify(record)}\n`);
    },
    /** Idempotent. */
    remove: async (key: string) => {
      await removeTemporaryFiles(key);
      await rm(join(folder, fileOf(key)), { force: true });
      await undefinedIfMissing(syncFolder(folder));
    },
  };
};
