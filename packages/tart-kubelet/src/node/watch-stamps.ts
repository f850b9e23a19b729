import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls back when the host steps have stamped something, so that nobody waits for the next look to learn that a push is through: the
 * agent starts in the middle of one. Only a hint: where a folder cannot be watched, or is not there yet, the next look finds it all.
 */
export const watchStamps = (folder: string, changed: () => void): (() => void) => {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, () => changed());
  } catch {
    return () => {};
  }
  watcher.on('error', () => watcher.close());
  return () => watcher.close();
};
