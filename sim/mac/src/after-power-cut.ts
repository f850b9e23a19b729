import { killSurvivors } from './launchd/survivors.ts';
import { removeUserlandBehind } from './userland/shared-userland.ts';

/**
 * A simulator that was killed outright has left the processes of its Mac running, which on a real one a power cut ends. They are known
 * by the Mac's folder in their environment, never by a number that somebody else may have by now.
 */
export const clearAwayLastLife = async (root: string, bin: string): Promise<void> => {
  await killSurvivors(root);
  removeUserlandBehind(bin);
};
