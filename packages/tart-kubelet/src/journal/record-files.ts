import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { parseRecord, type VmRecord } from './record.ts';

export type JournalEntry =
  | { readonly kind: 'record'; readonly record: VmRecord }
  /** Something is there under this UID, and nobody can tell what. Whoever it is about may have ended: it must not start again. */
  | { readonly kind: 'unreadable'; readonly uid: string; readonly why: string };

/** The files of the journal, as they are now. */
export interface RecordFiles {
  /** Never throws for what a file is or holds. */
  read(path: string, uid: string): JournalEntry | undefined;
  /** It is about to be another file. */
  forget(path: string): void;
}

/** Ours have some hundred bytes; a message of tart may add a few thousand. */
const mostBytes = 256 * 1024;

/** Whoever writes a file, or puts another in its place, changes this. */
const markOf = ({ ctimeMs, ino, mtimeMs, size }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/** A link, a pipe or a file far too long is none of ours, and keeps nobody waiting. */
const isOurs = (file: Stats): boolean => file.isFile() && file.size <= mostBytes;

const readText = (path: string): { readonly text: string; readonly mark: string } | undefined => {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const handle = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const file = fstatSync(handle);
    return isOurs(file) ? { mark: markOf(file), text: readFileSync(handle, 'utf8') } : undefined;
  } finally {
    closeSync(handle);
  }
};

/**
 * Looks at each file each time, and reads it again only when it is another: every look at a Pod asks for all records, and those of Pods
 * that have ended stay for minutes. Without waiting: it takes microseconds, and a turn of the event loop takes longer than that.
 */
export const createRecordFiles = (): RecordFiles => {
  const remembered = new Map<string, { readonly mark: string; readonly entry: JournalEntry }>();
  const readAnew = (path: string, uid: string): JournalEntry => {
    const found = readText(path);
    if (found === undefined) return { kind: 'unreadable', uid, why: `${path} is no file of the journal` };
    const record = parseRecord(found.text);
    // A copy under another name would speak for a Pod that it is not about.
    if (record?.pod.uid !== uid) return { kind: 'unreadable', uid, why: `${path} holds no record of ${uid}` };
    const entry = { kind: 'record', record } as const;
    remembered.set(path, { mark: found.mark, entry });
    return entry;
  };
  return {
    read: (path, uid) => {
      const before = remembered.get(path);
      remembered.delete(path);
      try {
        const file = lstatSync(path, { throwIfNoEntry: false });
        if (file === undefined) return undefined;
        if (!isOurs(file)) return { kind: 'unreadable', uid, why: `${path} is no file of the journal` };
        if (before?.mark !== markOf(file)) return readAnew(path, uid);
        remembered.set(path, before);
        return before.entry;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        return { kind: 'unreadable', uid, why: `${path} cannot be read: ${String(error)}` };
      }
    },
    forget: (path) => void remembered.delete(path),
  };
};
