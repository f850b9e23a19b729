import { z } from 'zod';
import { createRecordFiles } from './record-files.ts';

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

export const recordSchema = z.object({
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

const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
const suffix = '.json';

const fileOf = (uid: string): string => {
  if (!uidPattern.test(uid)) throw new Error(`${JSON.stringify(uid.slice(0, 64))} is no UID of a Pod`);
  return `${uid}${suffix}`;
};

/**
 * What the agent has done for each Pod, as far as it must outlive the agent: one file for each UID, with its virtual machine. Reading never
 * rejects for what a file holds.
 */
export const createJournal = (folder: string) => {
  const filePattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}\.json$/;
  const files = createRecordFiles({ folder, schema: recordSchema, fileOf, filePattern, keyOf: ({ pod }) => pod.uid });
  return {
    /** Every UID of which anything is known. Rejects when the folder cannot be read: then nothing is known to be nobody's. */
    list: async () => {
      const { files: names, records, problems } = await files.list();
      return { uids: names.map((name) => name.slice(0, -suffix.length)), records, problems };
    },
    /** `unreadable`: something is there under this UID. Its Pod may have ended, and must not start again. */
    read: async (uid: string) => {
      fileOf(uid);
      return files.read(uid).catch(() => 'unreadable' as const);
    },
    write: (record: VmRecord) => files.write(record),
    /** The last act for a Pod, after everything of it is gone: until then its UID is known to have been here. Not there is fine. */
    remove: (uid: string) => files.remove(uid),
  };
};

export type Journal = ReturnType<typeof createJournal>;
