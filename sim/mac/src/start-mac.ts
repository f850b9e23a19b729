import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { clearAwayLastLife } from './after-power-cut.ts';
import { assembleMac } from './assemble-mac.ts';
import type { Mac, MacOptions } from './mac.ts';
import { occupy } from './occupy.ts';

/** Starts a Mac: an installed one as it is, also after a simulator that was killed; an empty folder as a fresh one. */
export const startMac = async (options: MacOptions): Promise<Mac> => {
  mkdirSync(options.folder, { recursive: true });
  const folder = realpathSync(options.folder);
  const root = join(folder, 'root');
  const hidden = join(folder, '.mac');
  mkdirSync(hidden, { recursive: true });
  const occupied = occupy(join(hidden, 'played-by'));
  try {
    if (occupied.afterPowerCut) await clearAwayLastLife(root, join(hidden, 'bin'));
    const mac = await assembleMac(options, root, hidden);
    return {
      ...mac,
      stop: async () => {
        await mac.stop();
        occupied.leave();
      },
    };
  } catch (error) {
    occupied.leave();
    throw error;
  }
};
