import { setImmediate as turn } from 'node:timers/promises';

/** Lets the event loop turn until it is so. Nothing of it depends on how fast the machine is but the patience. */
export const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const patience = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > patience) throw new Error(`it never came to pass that ${what}`);
    await turn();
  }
};

/** Enough turns for everything that needs no time to be through. */
export const settle = async (turns = 50): Promise<void> => {
  for (let each = 0; each < turns; each += 1) await turn();
};
