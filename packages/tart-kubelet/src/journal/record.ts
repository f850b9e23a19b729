import { z } from 'zod';

const time = z.number().int().nonnegative();
const count = z.number().int().nonnegative();

/** How one run of a virtual machine ended. Kept from before the evidence is thrown away (G6). */
const ending = z.object({
  exitCode: z.number().int(),
  reason: z.string(),
  message: z.string().optional(),
  startedAt: time.optional(),
  finishedAt: time,
});

/** How far this run has come. Each state is written before the act that it names begins. */
const state = z.discriminatedUnion('kind', [
  /** A fresh clone is to be made. One that is there under this name is that clone, as the name was free before. */
  z.object({ kind: z.literal('cloning') }),
  /** It has an identity and a size of its own, and was never on. */
  z.object({ kind: z.literal('configured') }),
  /** `tart run` is about to be called, or was: from here on it may have been on. */
  z.object({ kind: z.literal('starting'), at: time }),
  z.object({
    kind: z.literal('running'),
    process: z.object({ pid: z.number().int().positive(), startedAt: time }),
    since: time,
    /** The last address that it had: a lease that cannot be read takes none away (G10). */
    address: z.string().optional(),
  }),
  z.object({ kind: z.literal('ended'), ending }),
]);

const record = z.object({
  version: z.literal(1),
  vm: z.string().min(1),
  pod: z.object({ uid: z.string().min(1), namespace: z.string().min(1), name: z.string().min(1) }),
  image: z.object({ reference: z.string(), digest: z.string().optional() }),
  /** When the Pod was first worked on: whoever came first has the slot. */
  createdAt: time,
  /** The first run is 0, and each restart counts one up: this is `restartCount`. */
  run: count,
  state,
  /** When the guest was asked to shut down. */
  stopRequestedAt: time.optional(),
  /** How the run before this one ended. */
  previous: ending.optional(),
});

export type VmRecord = Readonly<z.infer<typeof record>>;
export type RunState = VmRecord['state'];
export type Ending = Readonly<z.infer<typeof ending>>;

export const formatRecord = (one: VmRecord): string => `${JSON.stringify(one)}\n`;

/** `undefined`: torn, of another program, or of a version that we do not know. */
export const parseRecord = (text: string): VmRecord | undefined => {
  try {
    return record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
