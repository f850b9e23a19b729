import { setImmediate as turn } from 'node:timers/promises';

const someTurns = async (turns: number): Promise<void> => {
  for (let each = 0; each < turns; each += 1) await turn();
};

const nothing = new Uint8Array(1);
/** More than the thread pool has threads. */
const jobs = 8;
/** A file that somebody else has open for ever must not hold a test up. */
const mostTurns = 1_000;

/**
 * Enough turns for everything that needs no time to be through. Files and keys are worked on by the thread pool, whose answers a busy
 * machine brings later than any number of turns: work that is queued behind theirs, and files that are still asked for, are waited for.
 */
export const flushEventLoop = async (turns = 50): Promise<void> => {
  await someTurns(turns);
  await Promise.all(Array.from({ length: jobs }, () => crypto.subtle.digest('SHA-256', nothing)));
  const asksForFiles = (): boolean => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'));
  for (let each = 0; each < mostTurns && asksForFiles(); each += 1) await turn();
  await someTurns(turns);
};
