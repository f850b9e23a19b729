import { setImmediate as turn } from 'node:timers/promises';

const hasFileRequests = (): boolean => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'));

/** Ends after so many turns in a row without a pending file request. */
const quietTurns = async (turns: number): Promise<void> => {
  for (let quiet = 0; quiet < turns; quiet += 1) {
    await turn();
    if (hasFileRequests()) quiet = 0;
  }
};

const nothing = new Uint8Array(1);
/** More than the thread pool has threads. */
const jobs = 8;

/**
 * Runs everything that needs no time. Files and keys use the thread pool, whose results may arrive later than any number of turns on a
 * busy machine. So it also waits for pending file requests, and for work queued behind that with keys.
 */
export const flushEventLoop = async (turns = 50): Promise<void> => {
  await quietTurns(turns);
  await Promise.all(Array.from({ length: jobs }, () => crypto.subtle.digest('SHA-256', nothing)));
  await quietTurns(turns);
};
