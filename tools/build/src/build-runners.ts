import { bundle } from './bundle.ts';

/** The runners controller as one file, `runners.mjs`. */
export const buildRunners = (folder: string): Promise<string> =>
  bundle({ program: 'packages/runners/src/main.ts', folder, name: 'runners', single: true });
