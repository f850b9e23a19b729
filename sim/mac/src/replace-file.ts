import { rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file anew. Removed before it is written: ext4 waits for the disk when a file is overwritten or renamed over, and a simulated
 * Mac does that a thousand times in a first boot. Nothing here has to outlive a power cut of this machine.
 */
export const replaceFile = (path: string, content: string | Buffer, mode = 0o644): void => {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode });
};
