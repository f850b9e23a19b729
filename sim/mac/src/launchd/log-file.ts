import { openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Machine } from '../machine.ts';

const everybody = 0o002;

/** Opens a job's log for appending, as that user. `undefined`: it may not, and launchd does not say so (INC-224). */
export type OpenLog = (path: string, user: string) => number | undefined;

export const createOpenLog = (machine: Machine): OpenLog => {
  // A file belongs to whoever made it; nobody else on this Mac knows on whose behalf launchd did.
  const made = new Map<string, string>();

  const mayWrite = (path: string, user: string): boolean => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (user === 'root' || (stats.mode & everybody) !== 0) return true;
    return (made.get(path) ?? machine.ownerOf(path).user) === user;
  };

  return (path, user) => {
    const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!mayWrite(exists ? path : dirname(path), user)) return undefined;
    try {
      const fd = openSync(path, 'a', 0o644);
      if (!exists) made.set(path, user);
      return fd;
    } catch {
      return undefined;
    }
  };
};
