import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tools of this machine that macOS has too, with the same behaviour as far as POSIX defines it. All other tools that are not simulated are
 * missing, as on a Mac: timeout, flock, setsid, sha256sum, ip, ss, systemctl.
 */
export const passThroughTools: readonly string[] = `
  awk basename bash cat chmod cmp comm cp cut dd diff dirname du echo env expr false find fold grep gunzip gzip
  head join kill ln ls mkdir mkfifo mktemp mv nohup od paste printf pwd readlink realpath rm rmdir seq sh
  sort split stty tail tar tee test touch tr true tty uniq wc xargs yes zcat [
`
  .trim()
  .split(/\s+/);

const searchFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The path of a tool of the real machine. */
export const realTool = (name: string): string | undefined =>
  searchFolders.map((folder) => join(folder, name)).find((path) => existsSync(path));
