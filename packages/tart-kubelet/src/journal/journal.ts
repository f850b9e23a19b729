import { constants } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatRecord, parseRecord, type VmRecord } from './record.ts';
import { syncFolder, temporaryMark, writeDurably } from './write-durably.ts';

type JournalEntry =
  | { readonly kind: 'record'; readonly record: VmRecord }
  /** Something is there under this UID, and nobody can tell what. Whoever it is about may have ended: it must not start again. */
  | { readonly kind: 'unreadable'; readonly uid: string; readonly why: string };

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
  /** The last act for a Pod, after everything of it is gone: until then its UID is known to have been here. Not there is fine. */
  remove(uid: string): Promise<void>;
}

const suffix = '.json';
const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
/** Ours have some hundred bytes; a message of tart may add a few thousand. */
const mostBytes = 256 * 1024;

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** A link, a pipe or a file far too long is none of ours, and keeps nobody waiting. */
const readText = async (path: string): Promise<string | undefined> => {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = await file.stat();
    return size <= mostBytes ? await file.readFile('utf8') : undefined;
  } finally {
    await file.close();
  }
};

export const createJournal = (folder: string): Journal => {
  let isFolderMade = false;
  const makeFolder = async (): Promise<true> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return true;
  };
  const pathOf = (uid: string): string => {
    if (!uidPattern.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 64))} is no UID of a Pod`);
    return join(folder, `${uid}${suffix}`);
  };
  const read = async (uid: string): Promise<JournalEntry | undefined> => {
    const path = pathOf(uid);
    try {
      const text = await readText(path);
      if (text === undefined) return { kind: 'unreadable', uid, why: `${path} is no file of the journal` };
      const record = parseRecord(text);
      // A copy under another name would speak for a Pod that it is not about.
      if (record?.pod.uid === uid) return { kind: 'record', record };
      return { kind: 'unreadable', uid, why: `${path} holds no record of ${uid}` };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      return { kind: 'unreadable', uid, why: `${path} cannot be read: ${String(error)}` };
    }
  };
  const names = async (): Promise<string[]> => {
    try {
      return await readdir(folder);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  };
  return {
    read,
    list: async () => {
      const uids = (await names())
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .filter((uid) => uidPattern.test(uid));
      const entries = await Promise.all(uids.map(read));
      return entries.filter((entry) => entry !== undefined);
    },
    write: async (record) => {
      const path = pathOf(record.pod.uid);
      isFolderMade ||= await makeFolder();
      await writeDurably(path, formatRecord(record));
    },
    remove: async (uid) => {
      const path = pathOf(uid);
      // What a crash left half written is of the same UID, and goes first.
      for (const name of await names())
        if (name.startsWith(`${uid}${suffix}${temporaryMark}`)) await rm(join(folder, name), { force: true });
      await rm(path, { force: true });
      await syncFolder(folder).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    },
  };
};
