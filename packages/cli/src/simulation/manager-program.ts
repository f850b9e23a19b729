import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Beside a built `tartan`. In a checkout there is none, and it is built of what lies there. */
const shipped = join(import.meta.dirname, 'files/manager/manager.mjs');

/** The provider as it ships: the file to start. */
export const managerProgram = async (folder: string): Promise<string> => {
  if (existsSync(shipped)) return shipped;
  const { buildManager } = await import('@tartan/tools-build');
  return buildManager(join(folder, 'manager'));
};
