import { closeSync, constants, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { openIfThere, readAt } from '../logs/log-span.ts';
import type { Copied } from './copied.ts';

/** As much of the end as whoever asks for the reason of an end reads. */
const endBytes = 8 * 1024;

const endBefore = async (raw: string, offset: number): Promise<string> => {
  const file = await openIfThere(raw);
  if (file === undefined) return '';
  try {
    const from = Math.max(0, offset - endBytes);
    return (await readAt(file, from, offset - from)).toString('utf8');
  } finally {
    await file.close();
  }
};

/** Only if all of it was copied. Between the look and the cut nothing else of ours runs, so that what tart could write there is next to nothing. */
const cutIfAt = (raw: string, offset: number): boolean => {
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
 * Empties the output of tart, which appends to it for as long as it runs, once all of it is in the log (G23).
 * The end is kept, since it may tell why a run ended. That a cut is about to happen is written down before: afterwards the size alone
 * cannot tell whether it did.
 */
export const cutRaw = async (raw: string, copied: Copied, save: (next: Copied) => Promise<void>): Promise<void> => {
  const { cutting: _, ...before } = copied;
  // Half a line is waiting for its end.
  if ((await stat(raw)).size !== copied.raw.offset) return;
  const cutOff = await endBefore(raw, copied.raw.offset);
  await save({ ...before, cutOff, cutting: true });
  const isCut = cutIfAt(raw, copied.raw.offset);
  await save(isCut ? { ...before, cutOff, raw: { ...copied.raw, offset: 0 } } : before);
};

/** What an agent that was killed while it cut has left: the output still holds what was about to be cut off, or it begins anew. */
export const afterCrash = async (raw: string, copied: Copied): Promise<Copied> => {
  const { cutting, ...rest } = copied;
  if (cutting === undefined) return copied;
  const isThere = (await endBefore(raw, copied.raw.offset)) === copied.cutOff;
  return isThere ? rest : { ...rest, raw: { ...copied.raw, offset: 0 } };
};
