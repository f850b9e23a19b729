import { setTimeout } from 'node:timers/promises';

/** Looks until it is so: what another process writes has no event for us. */
export const eventually = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (let left = 20_000; left > 0; left--) {
    if (await isSo()) return;
    await setTimeout(5);
  }
  throw new Error(`it never came to pass that ${what}`);
};
