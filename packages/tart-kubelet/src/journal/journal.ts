import * as z from 'zod/mini';
import { createRecordFiles } from './record-files.ts';

const timeSchema = z.int().check(z.nonnegative());
const nameSchema = z.string().check(z.minLength(1));
const countSchema = z.int().check(z.nonnegative());

/** How one run of a VM ended. Recorded before the evidence is deleted (INC-18). */
const terminationSchema = z.object({
  exitCode: z.int(),
  reason: z.string(),
  message: z.optional(z.string()),
  startedAt: z.optional(timeSchema),
  finishedAt: timeSchema,
});

/** The progress of this run. Each state is written before its action begins. */
const stateSchema = z.discriminatedUnion('kind', [
  /** A clone is about to be created. A VM of this name is that clone, as the name was free before. */
  z.object({ kind: z.literal('cloning') }),
  /** It has its own identity and size, and has never run. */
  z.object({ kind: z.literal('configured') }),
  /** `tart run` is about to be called, or was: from here on it may have run. */
  z.object({ kind: z.literal('starting'), at: timeSchema }),
  z.object({
    kind: z.literal('running'),
    process: z.object({ pid: z.int().check(z.positive()), startedAt: timeSchema }),
    since: timeSchema,
    /** Its last known address: an unreadable lease does not remove it (INC-410). */
    address: z.optional(z.string()),
  }),
  z.object({ kind: z.literal('ended'), ending: terminationSchema }),
]);

export const recordSchema = z.object({
  version: z.literal(1),
  vm: nameSchema,
  pod: z.object({ uid: nameSchema, namespace: nameSchema, name: nameSchema }),
  image: z.object({ reference: z.string(), digest: z.optional(z.string()) }),
  /** When the agent first handled the Pod: decides who gets a slot first. */
  createdAt: timeSchema,
  /** Starts at 0, and each restart increases it: this is `restartCount`. */
  run: countSchema,
  state: stateSchema,
  /** When the guest was asked to shut down. */
  stopRequestedAt: z.optional(timeSchema),
  /** How the previous run ended. */
  previous: z.optional(terminationSchema),
});

export type VmRecord = Readonly<z.infer<typeof recordSchema>>;
export type RunState = VmRecord['state'];
export type Termination = Readonly<z.infer<typeof terminationSchema>>;

const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
const suffix = '.json';

const fileOf = (uid: string): string => {
  if (!uidPattern.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 64))} is no UID of a Pod`);
  return `${uid}${suffix}`;
};

/** Persistent progress of each Pod: one file per UID, with its VM. Reading never rejects because of a file's content. */
export const createJournal = (folder: string) => {
  const filePattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}\.json$/;
  const files = createRecordFiles({ folder, schema: recordSchema, fileOf, filePattern, keyOf: ({ pod }) => pod.uid });
  return {
    /** Every UID with a record. Rejects when the folder cannot be read: then nothing counts as orphaned. */
    list: async () => {
      const { files: names, records, problems } = await files.list();
      return { uids: names.map((name) => name.slice(0, -suffix.length)), records, problems };
    },
    /** `unreadable`: a record exists for this UID. Its Pod may have ended, and must not be started again. */
    read: async (uid: string) => {
      fileOf(uid);
      return files.read(uid).catch(() => 'unreadable' as const);
    },
    write: (record: VmRecord) => files.write(record),
    /** The last action for a Pod, after everything else is deleted: until then the UID counts as known. Idempotent. */
    remove: (uid: string) => files.remove(uid),
  };
};

export type Journal = ReturnType<typeof createJournal>;
