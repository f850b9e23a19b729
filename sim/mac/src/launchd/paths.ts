import { isAbsolute, join } from 'node:path';
import type { Machine } from '../machine.ts';

/** Where a path lies that a process on the Mac gave: its scripts say `$TARTAN_ROOT/…` themselves, property lists do not. */
export const realPath = (machine: Pick<Machine, 'root' | 'path'>, path: string, cwd = '/'): string => {
  const absolute = isAbsolute(path) ? path : join(cwd, path);
  const isBelowRoot = absolute === machine.root || absolute.startsWith(`${machine.root}/`);
  return isBelowRoot ? absolute : machine.path(absolute);
};

/** The same file as the Mac itself would name it. */
export const macPath = (machine: Pick<Machine, 'root'>, path: string): string =>
  path.startsWith(`${machine.root}/`) ? path.slice(machine.root.length) : path;
