import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../file-errors.ts';

/** One run of a container: starts at 0, like `restartCount`. */
export interface LogName {
  readonly podUID: string;
  readonly container: string;
  readonly run: number;
}

/** The rotated file. */
export const rotatedPath = (path: string): string => `${path}.1`;

const withExtension = (path: string, ending: string): string => `${path.slice(0, -'.log'.length)}.${ending}`;

/** Tart's own output, beside the log that it is copied into. */
export const rawOutputPath = (path: string): string => withExtension(path, 'raw');

/** How much of the log's sources was copied. */
export const copyOffsetPath = (path: string): string => withExtension(path, 'copied');

const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
const containerPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The log, tart's output, the copy offset, and temporary files of these. */
const runPattern = /^(\d+)\.(?:log|raw|copied)(?:\..*)?$/;

/** These become folders: invalid names must not become paths. */
const checkName = (text: string, pattern: RegExp, what: string): string => {
  if (pattern.test(text)) return text;
  throw new Error(`${JSON.stringify(text.slice(0, 64))} is no ${what}: no log is kept under such a name`);
};

/** The agent's logs: `<root>/<pod uid>/<container>/<run>.log`, rotated to `<run>.log.1`. */
export const createLogFiles = (root: string) => {
  const folderOf = (podUID: string): string => join(root, checkName(podUID, uidPattern, 'uid of a Pod'));
  const containerFolder = ({ podUID, container }: LogName): string =>
    join(folderOf(podUID), checkName(container, containerPattern, 'name of a container'));
  const pathOf = (name: LogName): string => join(containerFolder(name), `${name.run}.log`);
  return {
    pathOf,
    /** Creates the folder, and removes runs older than the previous one, which `--previous` can still request. */
    prepare: async (name: LogName) => {
      const folder = containerFolder(name);
      // The output of a VM may contain secrets of its job.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const file of await readdir(folder)) {
        const run = Number(runPattern.exec(file)?.[1] ?? Number.NaN);
        if (run < name.run - 1) await rm(join(folder, file), { force: true });
      }
      return pathOf(name);
    },
    /** Removes all logs of a Pod. Idempotent. */
    remove: (podUID: string) => rm(folderOf(podUID), { recursive: true, force: true }),
    /** UIDs of Pods with logs, to find orphaned ones. */
    podUIDs: async () => {
      const entries = (await undefinedIfMissing(readdir(root, { withFileTypes: true }))) ?? [];
      return entries.filter((entry) => entry.isDirectory() && uidPattern.test(entry.name)).map(({ name }) => name);
    },
  };
};

export type LogFiles = ReturnType<typeof createLogFiles>;
