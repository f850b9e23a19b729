import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@tartan/kube';
import { z } from 'zod';
import { undefinedIfMissing } from '../file-errors.ts';
import { readGuestFile } from '../guest/guest-file.ts';
import { parseJson } from '../parse-json.ts';
import { syncFolder, temporarySuffix, writeFileAtomic } from './atomic-write.ts';

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
export const parseRecord = (text: string): VmRecord | undefined => parseJson(recordSchema, text);

const suffix = '.json';
/** Ours have some hundred bytes; a message of tart may add a few thousand. */
const maxRecordBytes = 256 * 1024;

/** `undefined`: there is none. Rejects with why it cannot be read. */
const readRecord = async (folder: string, uid: string): Promise<VmRecord | undefined> => {
  const name = `${uid}${suffix}`;
  const content = await readGuestFile(folder, name, maxRecordBytes);
  if (content.kind === 'missing') return undefined;
  const isWhole = content.kind === 'read' && !content.truncated;
  const record = isWhole ? parseRecord(content.bytes.toString('utf8')) : undefined;
  // A copy under another name would speak for a Pod that it is not about.
  if (record?.pod.uid === uid) return record;
  const why = content.kind === 'refused' ? content.reason : `it holds no record of ${uid}`;
  throw new Error(`${join(folder, name)} cannot be read: ${why}`);
};

const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;

/**
 * What the agent has done for each Pod, as far as it must outlive the agent: one file for each UID, with its virtual machine.
 *
 * Guarantees: a write is there whole or not at all, and once it resolves a power cut takes nothing back. Reading never rejects for what
 * a file holds. Assumptions: one agent writes here; for each UID one caller at a time.
 */
export const createJournal = (folder: string) => {
  const checkUid = (uid: string): void => {
    if (!uidPattern.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 64))} is no UID of a Pod`);
  };
  const pathOf = (uid: string): string => {
    checkUid(uid);
    return join(folder, `${uid}${suffix}`);
  };
  const names = async (): Promise<string[]> => (await undefinedIfMissing(readdir(folder))) ?? [];
  return {
    /** `unreadable`: something is there under this UID. Whoever it is about may have ended, and must not start again. */
    read: async (uid: string) => {
      checkUid(uid);
      return readRecord(folder, uid).catch(() => 'unreadable' as const);
    },
    /** Every UID of which anything is known. Rejects when the folder cannot be read: then nothing is known to be nobody's. */
    list: async () => {
      const uids = (await names())
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .filter((uid) => uidPattern.test(uid));
      const found = await Promise.allSettled(uids.map((uid) => readRecord(folder, uid)));
      return {
        uids,
        records: found.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : [])),
        problems: found.flatMap((one) => (one.status === 'rejected' ? [errorMessage(one.reason)] : [])),
      };
    },
    write: async (record: VmRecord) => {
      const path = pathOf(record.pod.uid);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, formatRecord(record));
    },
    /** The last act for a Pod, after everything of it is gone: until then its UID is known to have been here. Not there is fine. */
    remove: async (uid: string) => {
      const path = pathOf(uid);
      // What a crash left half written is of the same UID, and goes first.
      for (const name of await names())
        if (name.startsWith(`${uid}${suffix}${temporarySuffix}`)) await rm(join(folder, name), { force: true });
      await rm(path, { force: true });
      await undefinedIfMissing(syncFolder(folder));
    },
  };
};

export type Journal = ReturnType<typeof createJournal>;
