import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * Calls `changed` soon after a file of ours changes, where the system can tell. Whoever needs to be sure looks now and then as well.
 * Never for the folder of a guest: it decides what happens there, and how often.
 */
export const watchFile = (path: string, changed: () => void): (() => void) => {
  const name = basename(path);
  let watcher: FSWatcher | undefined;
  const end = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  try {
    watcher = watch(dirname(path), { persistent: false }, (_, file) => {
      if (file === name) changed();
    });
    watcher.on('error', end);
  } catch {
    // Too many of them, or no such folder: looking has to do.
  }
  return end;
};
