import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../file-errors.ts';

/** One run of a container: the first is 0, and each restart counts one up, as `restartCount` does. */
export interface LogName {
  readonly podUID: string;
  readonly container: string;
  readonly run: number;
}

/** The generation before the one that is being written. */
export const rotatedPath = (path: string): string => `${path}.1`;

const withExtension = (path: string, ending: string): string => `${path.slice(0, -'.log'.length)}.${ending}`;

/** What tart itself writes, beside the log that it is copied into. */
export const rawOutputPath = (path: string): string => withExtension(path, 'raw');

/** How much of a log's sources is in it by now. */
export const copyOffsetPath = (path: string): string => withExtension(path, 'copied');

const uidPattern = /^[0-9A-Za-z][0-9A-Za-z-]{0,127}$/;
const containerPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The log, what tart wrote, how much of it was copied, and what a crash left half written of these. */
const runPattern = /^(\d+)\.(?:log|raw|copied)(?:\..*)?$/;

/** These become folders: what is no uid must not become a path. */
const checkName = (text: string, pattern: RegExp, what: string): string => {
  if (pattern.test(text)) return text;
  throw new Error(`${JSON.stringify(text.slice(0, 64))} is no ${what}: no log is kept under such a name`);
};

/** Where the logs of this agent lie: `<root>/<pod uid>/<container>/<run>.log`, and the generation before it in `<run>.log.1`. */
export const createLogFiles = (root: string) => {
  const folderOf = (podUID: string): string => join(root, checkName(podUID, uidPattern, 'uid of a Pod'));
  const containerFolder = ({ podUID, container }: LogName): string =>
    join(folderOf(podUID), checkName(container, containerPattern, 'name of a container'));
  const pathOf = (name: LogName): string => join(containerFolder(name), `${name.run}.log`);
  return {
    pathOf,
    /** Makes the folder, and removes runs that nobody can ask for any more: `--previous` means the one before. */
    prepare: async (name: LogName) => {
      const folder = containerFolder(name);
      // What a virtual machine prints may hold secrets of its job.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const file of await readdir(folder)) {
        const run = Number(runPattern.exec(file)?.[1] ?? Number.NaN);
        if (run < name.run - 1) await rm(join(folder, file), { force: true });
      }
      return pathOf(name);
    },
    /** Everything of a Pod. Nothing there is fine. */
    remove: (podUID: string) => rm(folderOf(podUID), { recursive: true, force: true }),
    /** UIDs of the Pods that have logs, so that those without a Pod can be removed. */
    podUIDs: async () => {
      const entries = (await undefinedIfMissing(readdir(root, { withFileTypes: true }))) ?? [];
      return entries.filter((entry) => entry.isDirectory() && uidPattern.test(entry.name)).map(({ name }) => name);
    },
  };
};

export type LogFiles = ReturnType<typeof createLogFiles>;
