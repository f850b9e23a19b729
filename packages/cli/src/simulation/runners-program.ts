import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Beside a built `tartan`. In a checkout there is none, and it is built of what lies there. */
const shipped = join(import.meta.dirname, 'files/runners.mjs');

/** The runners controller as it ships: the file to start. */
export const runnersProgram = async (folder: string): Promise<string> => {
  if (existsSync(shipped)) return shipped;
  const { buildRunners } = await import('@tartan/tools-build');
  return buildRunners(folder);
};
