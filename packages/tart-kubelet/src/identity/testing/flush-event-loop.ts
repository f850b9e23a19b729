import { setImmediate as turn } from 'node:timers/promises';

const someTurns = async (turns: number): Promise<void> => {
  for (let each = 0; each < turns; each += 1) await turn();
};

const nothing = new Uint8Array(1);
/** More than the thread pool has threads. */
const jobs = 8;
/** Limits the wait for a file operation of other code that never ends. */
const mostTurns = 1_000;

/**
 * Runs everything that needs no time. Files and keys use the thread pool, whose results may arrive later than any number of turns on a
 * busy machine. So it also waits for work queued behind them, and for pending file requests.
 */
export const flushEventLoop = async (turns = 50): Promise<void> => {
  await someTurns(turns);
  await Promise.all(Array.from({ length: jobs }, () => crypto.subtle.digest('SHA-256', nothing)));
  const asksForFiles = (): boolean => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'));
  for (let each = 0; each < mostTurns && asksForFiles(); each += 1) await turn();
  await someTurns(turns);
};
