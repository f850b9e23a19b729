import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What macOS has too and what behaves the same there, as far as POSIX goes: taken from the machine underneath.
 * Whatever is not here and not played is missing, as on a Mac: timeout, flock, setsid, sha256sum, ip, ss, systemctl.
 */
export const passThroughTools: readonly string[] = `
  awk basename bash cat chmod cmp comm cp cut dd diff dirname du echo env expr false find fold grep gunzip gzip
  head join kill ln ls mkdir mkfifo mktemp mv nohup od paste printf pwd readlink realpath rm rmdir seq sh
  sort split stty tail tar tee test touch tr true tty uniq wc xargs yes zcat [
`
  .trim()
  .split(/\s+/);

const searchFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Where a tool of the machine underneath lies. */
export const realTool = (name: string): string | undefined =>
  searchFolders.map((folder) => join(folder, name)).find((path) => existsSync(path));
