import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { rename, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { openIfPresent, readAt } from '../logs/read-log.ts';

const count = z.number().int().nonnegative();

/** Which file, and how far into it. */
const position = z.object({ file: count, offset: count });

const checkpointSchema = z.object({
  version: z.literal(1),
  /** tart's own output. */
  raw: position,
  /** The guest's log. */
  guest: position,
  /** The end of what was cut off the raw output: how a run ended may stand there. */
  cutOff: z.string().optional(),
  /** The raw output was about to be cut, or is. */
  cutting: z.literal(true).optional(),
  /** Nothing more will be copied. */
  finished: z.literal(true).optional(),
});

export type Position = Readonly<z.infer<typeof position>>;

/** How much of a log's sources is in it. Behind the log by one chunk at most, never ahead of it. */
export type CopyCheckpoint = Readonly<z.infer<typeof checkpointSchema>>;

const fileStart: Position = { file: 0, offset: 0 };
export const emptyCheckpoint: CopyCheckpoint = { version: 1, raw: fileStart, guest: fileStart };

export const formatCheckpoint = (one: CopyCheckpoint): string => `${JSON.stringify(one)}\n`;

/** What cannot be read says that nothing was copied: it is copied again rather than lost. The file has a few hundred bytes. */
export const readCheckpoint = (path: string): CopyCheckpoint => {
  try {
    return checkpointSchema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data ?? emptyCheckpoint;
  } catch {
    return emptyCheckpoint;
  }
};

/** Whole or not at all when the agent is killed. A power cut, after which there is no virtual machine either, may take back the last one. */
export const writeCheckpoint = async (path: string, one: CopyCheckpoint): Promise<void> => {
  const fresh = `${path}.new`;
  await writeFile(fresh, formatCheckpoint(one), { mode: 0o600 });
  await rename(fresh, path);
};

/** As much of the end as whoever asks for the reason of an end reads. */
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

/** Only if all of it was copied. Between the look and the cut nothing else of ours runs, so that what tart could write there is next to nothing. */
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
 * Empties the output of tart, which appends to it for as long as it runs, once all of it is in the log (INC-423).
 * The end is kept, since it may tell why a run ended. That a cut is about to happen is written down before: afterwards the size alone
 * cannot tell whether it did.
 */
export const truncateRawOutput = async (
  raw: string,
  checkpoint: CopyCheckpoint,
  save: (next: CopyCheckpoint) => Promise<void>,
): Promise<void> => {
  const { cutting: _, ...before } = checkpoint;
  // Half a line is waiting for its end.
  if ((await stat(raw)).size !== checkpoint.raw.offset) return;
  const cutOff = await tailBefore(raw, checkpoint.raw.offset);
  await save({ ...before, cutOff, cutting: true });
  const isCut = truncateIfAt(raw, checkpoint.raw.offset);
  await save(isCut ? { ...before, cutOff, raw: { ...checkpoint.raw, offset: 0 } } : before);
};

/** What an agent that was killed while it cut has left: the output still holds what was about to be cut off, or it begins anew. */
export const recoverAfterCrash = async (raw: string, checkpoint: CopyCheckpoint): Promise<CopyCheckpoint> => {
  const { cutting, ...rest } = checkpoint;
  if (cutting === undefined) return checkpoint;
  const isIntact = (await tailBefore(raw, checkpoint.raw.offset)) === checkpoint.cutOff;
  return isIntact ? rest : { ...rest, raw: { ...checkpoint.raw, offset: 0 } };
};
