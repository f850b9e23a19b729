import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { stageFileWrite, syncFolder, temporarySuffix } from './atomic-write.ts';

const timeSchema = z.number().int().nonnegative();
const countSchema = z.number().int().nonnegative();

/** How one run of a virtual machine ended. Kept from before the evidence is thrown away (INC-18). */
const terminationSchema = z.object({
  exitCode: z.number().int(),
  reason: z.string(),
  message: z.string().optional(),
  startedAt: timeSchema.optional(),
  finishedAt: timeSchema,
});

/** How far this run has come. Each state is written before the act that it names begins. */
const stateSchema = z.discriminatedUnion('kind', [
  /** A fresh clone is to be made. One that is there under this name is that clone, as the name was free before. */
  z.object({ kind: z.literal('cloning') }),
  /** It has an identity and a size of its own, and was never on. */
  z.object({ kind: z.literal('configured') }),
  /** `tart run` is about to be called, or was: from here on it may have been on. */
  z.object({ kind: z.literal('starting'), at: timeSchema }),
  z.object({
    kind: z.literal('running'),
    process: z.object({ pid: z.number().int().positive(), startedAt: timeSchema }),
    since: timeSchema,
    /** The last address that it had: a lease that cannot be read takes none away (INC-410). */
    address: z.string().optional(),
  }),
  z.object({ kind: z.literal('ended'), ending: terminationSchema }),
]);

const recordSchema = z.object({
  version: z.literal(1),
  vm: z.string().min(1),
  pod: z.object({ uid: z.string().min(1), namespace: z.string().min(1), name: z.string().min(1) }),
  image: z.object({ reference: z.string(), digest: z.string().optional() }),
  /** When the Pod was first worked on: whoever came first has the slot. */
  createdAt: timeSchema,
  /** The first run is 0, and each restart counts one up: this is `restartCount`. */
  run: countSchema,
  state: stateSchema,
  /** When the guest was asked to shut down. */
  stopRequestedAt: timeSchema.optional(),
  /** How the run before this one ended. */
  previous: terminationSchema.optional(),
});

export type VmRecord = Readonly<z.infer<typeof recordSchema>>;
export type RunState = VmRecord['state'];
export type Termination = Readonly<z.infer<typeof terminationSchema>>;

export const formatRecord = (one: VmRecord): string => `${JSON.stringify(one)}\n`;

/** `undefined`: torn, of another program, or of a version that we do not know. */
export const parseRecord = (text: string): VmRecord | undefined => {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

type JournalEntry =
  | { readonly kind: 'record'; readonly record: VmRecord }
  /** Something is there under this UID, and nobody can tell what. Whoever it is about may have ended: it must not start again. */
  | { readonly kind: 'unreadable'; readonly uid: string; readonly message: string };

/** The files of the journal, as they are now. */
interface RecordFileCache {
  /** Never throws for what a file is or holds. */
  read(path: string, uid: string): JournalEntry | undefined;
  /** It is about to be another file. */
  forget(path: string): void;
}

/** Ours have some hundred bytes; a message of tart may add a few thousand. */
const maxRecordBytes = 256 * 1024;

/** Whoever writes a file, or puts another in its place, changes this. */
const fileVersion = ({ ctimeMs, ino, mtimeMs, size }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/** A link, a pipe or a file far too long is none of ours, and keeps nobody waiting. */
const isRecordFile = (file: Stats): boolean => file.isFile() && file.size <= maxRecordBytes;

const readText = (path: string): { readonly text: string; readonly mark: string } | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const handle = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const file = fstatSync(handle);
    return isRecordFile(file) ? { mark: fileVersion(file), text: readFileSync(handle, 'utf8') } : undefined;
  } finally {
    closeSync(handle);
  }
};

/**
 * Looks at each file each time, and reads it again only when it is another: every look at a Pod asks for all records, and those of Pods
 * that have ended stay for minutes. Without waiting: it takes microseconds, and a turn of the event loop takes longer than that.
 */
const createRecordFileCache = (): RecordFileCache => {
  const cached = new Map<string, { readonly mark: string; readonly entry: JournalEntry }>();
  const readFresh = (path: string, uid: string): JournalEntry => {
    const found = readText(path);
    if (found === undefined) return { kind: 'unreadable', uid, message: `${path} is no file of the journal` };
    const record = parseRecord(found.text);
    // A copy under another name would speak for a Pod that it is not about.
    if (record?.pod.uid !== uid) return { kind: 'unreadable', uid, message: `${path} holds no record of ${uid}` };
    const entry = { kind: 'record', record } as const;
    cached.set(path, { mark: found.mark, entry });
    return entry;
  };
  return {
    read: (path, uid) => {
      const before = cached.get(path);
      cached.delete(path);
      try {
        const file = lstatSync(path, { throwIfNoEntry: false });
        if (file === undefined) return undefined;
        if (!isRecordFile(file)) return { kind: 'unreadable', uid, message: `${path} is no file of the journal` };
        if (before?.mark !== fileVersion(file)) return readFresh(path, uid);
        cached.set(path, before);
        return before.entry;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        return { kind: 'unreadable', uid, message: `${path} cannot be read: ${String(error)}` };
      }
    },
    forget: (path) => void cached.delete(path),
  };
};

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
const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

export const createJournal = (folder: string): Journal => {
  const files = createRecordFileCache();
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
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  };
  const draft = async (record: VmRecord): Promise<Draft> => {
    const path = pathOf(record.pod.uid);
    isFolderMade ||= await makeFolder();
    const aside = await stageFileWrite(path, formatRecord(record));
    return {
      record,
      commit: () => aside.commit().finally(() => files.forget(path)),
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
        if (name.startsWith(`${uid}${suffix}${temporarySuffix}`)) await rm(join(folder, name), { force: true });
      await rm(path, { force: true });
      files.forget(path);
      await syncFolder(folder).catch((error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
      });
    },
  };
};
