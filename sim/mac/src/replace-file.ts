import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file. Removes it first: ext4 waits for the disk when a file is overwritten or renamed over, and a simulated Mac does that a
 * thousand times in a first boot. Nothing here has to survive a power cut of the real machine.
 */
export const replaceFile = (path: string, content: string | Buffer, mode = 0o644): void => {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode });
};

/** The same for the few files that must be complete even if the simulator is killed: always the old or the new one. */
export const replaceAtomically = (path: string, content: string | Buffer, mode = 0o644): void => {
  replaceFile(`${path}.new`, content, mode);
  renameSync(`${path}.new`, path);
};
