import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@tartan/kube';
import type * as z from 'zod/mini';
import { listFolder, undefinedIfMissing } from '../file-errors.ts';
import { readGuestFile } from '../guest/guest-file.ts';
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

/**
 * Small persistent records: a folder with one JSON file per key.
 *
 * Guarantees: writes are atomic, and durable once resolved. Assumptions: one agent writes here; one caller at a time per key.
 */
export const createRecordFiles = <T>({ folder, schema, fileOf, filePattern, keyOf }: RecordFilesOptions<T>) => {
  const readRecord = async (file: string): Promise<T | undefined> => {
    const content = await readGuestFile(folder, file, maxRecordBytes);
    if (content.kind === 'missing') return undefined;
    const isWhole = content.kind === 'read' && !content.truncated;
    const record = isWhole ? parseJson(schema, content.bytes.toString('utf8')) : undefined;
    // A copy under another name would count for the wrong key.
    if (record !== undefined && fileOf(keyOf(record)) === file) return record;
    const why = content.kind === 'refused' ? content.reason : 'it holds no record of this name';
    throw new Error(`${join(folder, file)} cannot be read: ${why}`);
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
