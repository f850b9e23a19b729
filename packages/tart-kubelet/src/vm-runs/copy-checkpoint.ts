import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { rename, stat, writeFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { openIfPresent, readAt } from '../logs/read-log.ts';

const count = z.int().check(z.nonnegative());

/** A file and the offset in it. */
const position = z.object({ file: count, offset: count });

const checkpointSchema = z.object({
  version: z.literal(1),
  /** tart's own output. */
  raw: position,
  /** The guest's log. */
  guest: position,
  /** The end of the truncated raw output: it may show how a run ended. */
  cutOff: z.optional(z.string()),
  /** The raw output is about to be truncated, or was. */
  cutting: z.optional(z.literal(true)),
  /** Copying is complete. */
  finished: z.optional(z.literal(true)),
});

export type Position = Readonly<z.infer<typeof position>>;

/** How much of the sources was copied to the log. At most one chunk behind the log, never ahead. */
export type CopyCheckpoint = Readonly<z.infer<typeof checkpointSchema>>;

const fileStart: Position = { file: 0, offset: 0 };
export const emptyCheckpoint: CopyCheckpoint = { version: 1, raw: fileStart, guest: fileStart };

export const formatCheckpoint = (one: CopyCheckpoint): string => `${JSON.stringify(one)}\n`;

/**
 * An unreadable checkpoint means that nothing was copied: copying twice is better than losing output. The file has a few
 * hundred bytes.
 */
export const readCheckpoint = (path: string): CopyCheckpoint => {
  try {
    return checkpointSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data ?? emptyCheckpoint;
  } catch {
    return emptyCheckpoint;
  }
};

/** Atomic if the agent is killed. A power failure may lose the last checkpoint, but then the VM is gone too. */
export const writeCheckpoint = async (path: string, one: CopyCheckpoint): Promise<void> => {
  const fresh = `${path}.new`;
  await writeFile(fresh, formatCheckpoint(one), { mode: 0o600 });
  await rename(fresh, path);
};

/** As much as readers of the exit cause need. */
const keptTailBytes = 8 * 1024;

const tailBefore = async (raw: string, offset: number): Promise<string> => {
  const file = await openIfPresent(raw);
  if (file === undefined) return '';
  try {
    const from = Math.max(0, offset - keptTailBytes);
    return (await readAt(file, from, offset - from)).toString('utf8');
  } finally {
    await file.close();
  }
};

/** Truncates only if everything was copied. The check and the truncation are synchronous, so tart has almost no time to write in between. */
const truncateIfAt = (raw: string, offset: number): boolean => {
  const file = openSync(raw, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    if (fstatSync(file).size !== offset) return false;
    ftruncateSync(file, 0);
    return true;
  } finally {
    closeSync(file);
  }
};

/**
 * Truncates tart's output, which tart appends to while it runs, when all of it is in the log (INC-423). Keeps the end, since it may
 * tell why a run ended. Records the intent first: afterwards the size alone does not show whether it happened.
 */
export const truncateRawOutput = async (
  raw: string,
  checkpoint: CopyCheckpoint,
  save: (next: CopyCheckpoint) => Promise<void>,
): Promise<void> => {
  const { cutting: _, ...before } = checkpoint;
  // An incomplete line is not copied yet.
  if ((await stat(raw)).size !== checkpoint.raw.offset) return;
  const cutOff = await tailBefore(raw, checkpoint.raw.offset);
  await save({ ...before, cutOff, cutting: true });
  const isCut = truncateIfAt(raw, checkpoint.raw.offset);
  await save(isCut ? { ...before, cutOff, raw: { ...checkpoint.raw, offset: 0 } } : before);
};

/** After a crash during the truncation: checks whether the output still has the old content, or starts anew. */
export const recoverAfterCrash = async (raw: string, checkpoint: CopyCheckpoint): Promise<CopyCheckpoint> => {
  const { cutting, ...rest } = checkpoint;
  if (cutting === undefined) return checkpoint;
  const isIntact = (await tailBefore(raw, checkpoint.raw.offset)) === checkpoint.cutOff;
  return isIntact ? rest : { ...rest, raw: { ...checkpoint.raw, offset: 0 } };
};
