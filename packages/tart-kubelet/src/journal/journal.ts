import { readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecordFiles, type JournalEntry } from './record-files.ts';
import { formatRecord, type VmRecord } from './record.ts';
import { syncFolder, temporaryMark, writeAside } from './write-durably.ts';

/** A record that counts for nothing yet. One that nobody commits is cleared away with its UID, whatever happens. */
export interface Draft {
  readonly record: VmRecord;
  /** As `write`: from now on it counts. Half of what a write costs is done. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * What the agent has done for each Pod, as far as it must outlive the agent: one file for each UID, with its virtual machine.
 *
 * Guarantees: a write is there whole or not at all, and once it resolves a power cut takes nothing back. Reading never rejects for what
 * a file holds. Assumptions: one agent writes here; for each UID one caller at a time.
 */
export interface Journal {
  /** Every UID of which anything is known. Rejects when the folder cannot be read: then nothing is known to be nobody's. */
  list(): Promise<readonly JournalEntry[]>;
  read(uid: string): Promise<JournalEntry | undefined>;
  write(record: VmRecord): Promise<void>;
  /** For an act whose time is near: all of a write that can be done before. */
  draft(record: VmRecord): Promise<Draft>;
  /** The last act for a Pod, after everything of it is gone: until then its UID is known to have been here. Not there is fine. */
  remove(uid: string): Promise<void>;
}

const suffix = '.json';
const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

export const createJournal = (folder: string): Journal => {
  const files = createRecordFiles();
  let isFolderMade = false;
  const makeFolder = async (): Promise<true> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return true;
  };
  const pathOf = (uid: string): string => {
    if (!uidPattern.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 64))} is no UID of a Pod`);
    return join(folder, `${uid}${suffix}`);
  };
  const read = (uid: string): JournalEntry | undefined => files.read(pathOf(uid), uid);
  const names = (): string[] => {
    try {
      return readdirSync(folder);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  };
  const draft = async (record: VmRecord): Promise<Draft> => {
    const path = pathOf(record.pod.uid);
    isFolderMade ||= await makeFolder();
    const aside = await writeAside(path, formatRecord(record));
    return {
      record,
      commit: () => aside.putInPlace().finally(() => files.forget(path)),
      discard: () => aside.discard(),
    };
  };
  return {
    read: async (uid) => read(uid),
    list: async () => {
      const uids = names()
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .filter((uid) => uidPattern.test(uid));
      return uids.map(read).filter((entry) => entry !== undefined);
    },
    draft,
    write: async (record) => (await draft(record)).commit(),
    remove: async (uid) => {
      const path = pathOf(uid);
      // What a crash left half written is of the same UID, and goes first.
      for (const name of names())
        if (name.startsWith(`${uid}${suffix}${temporaryMark}`)) await rm(join(folder, name), { force: true });
      await rm(path, { force: true });
      files.forget(path);
      await syncFolder(folder).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    },
  };
};
