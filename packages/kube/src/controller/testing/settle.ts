import { setImmediate } from 'node:timers/promises';

/** Runs all pending work that needs no time: promises, and the embedded server's reactions. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
};
