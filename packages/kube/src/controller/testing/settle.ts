import { setImmediate } from 'node:timers/promises';

/** Lets everything happen that needs no time: promises, and what the embedded server does between them. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
};
