import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file anew. Removed before it is written: ext4 waits for the disk when a file is overwritten or renamed over, and a simulated
 * Mac does that a thousand times in a first boot. Nothing here has to outlive a power cut of this machine.
 */
export const replaceFile = (path: string, content: string | Buffer, mode = 0o644): void => {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode });
};

/** The same for the few files that a killed simulator must leave whole: the old one or the new one, at any moment. */
export const replaceAtomically = (path: string, content: string | Buffer, mode = 0o644): void => {
  replaceFile(`${path}.new`, content, mode);
  renameSync(`${path}.new`, path);
};
