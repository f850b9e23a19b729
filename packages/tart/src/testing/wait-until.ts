import { setTimeout } from 'node:timers/promises';

/** Looks until it is so. A process on its way has no event for us. */
export const waitUntil = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (let left = 20_000; left > 0; left--) {
    if (await condition()) return;
    await setTimeout(5);
  }
  throw new Error(`never came true: ${what}`);
};
