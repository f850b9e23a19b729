import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Mac } from '@tartan/sim-mac';

const folders = ['/private/etc', '/Library', '/usr/local', '/private/var/db/tartan', '/Users'];

const everythingBelow = (path: string): string[] => {
  const here = lstatSync(path, { throwIfNoEntry: false });
  if (here === undefined) return [];
  return here.isDirectory() ? readdirSync(path).flatMap((name) => everythingBelow(join(path, name))) : [path];
};

/**
 * Everything that a step could have changed: each file with its content, mode and inode, so that rewriting the same content shows too; and
 * what macOS did beyond files. Two equal footprints mean that nothing was rewritten or restarted.
 */
export const footprint = (mac: Mac): { readonly files: readonly string[]; readonly journal: readonly string[] } => ({
  files: folders
    .flatMap((folder) => everythingBelow(mac.path(folder)))
    .map((path) => {
      const { ino, mode } = lstatSync(path);
      const isLink = lstatSync(path).isSymbolicLink();
      const content = isLink ? readlinkSync(path) : readFileSync(path).toString('base64');
      return `${path.slice(mac.root.length)} ${mode.toString(8)} ${ino} ${content}`;
    }),
  journal: mac.journal.entries.filter(({ what }) => what !== 'exec').map(({ what, detail }) => `${what} ${detail}`),
});
