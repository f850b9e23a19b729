import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { runToEnd } from '../facts/run-command.ts';

/** lsof walks all processes, and may wait for a file system that does not answer. */
const deadlineMs = 30_000;

/** Who has files of virtual machines open. */
export interface OpenFiles {
  /** By name. One of which nothing is known is absent: then it counts as open (B6). Never rejects. */
  check(names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, 'open' | 'closed'>>;
}

/**
 * Paths in the output of `lsof -F pn`: a `p` line for each process, then an `n` line for each of its files. `undefined`: a text that is
 * not that. A file that was deleted may have a remark behind its path.
 */
export const parseOpenPaths = (text: string): readonly string[] | undefined => {
  const paths: string[] = [];
  let process = false;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (/^p\d+$/.test(line)) process = true;
    else if (!process || !/^[A-Za-z]/.test(line)) return undefined;
    else if (line.startsWith('n')) paths.push(line.slice(1).replace(/ \(deleted\)$/, ''));
  }
  return paths;
};

const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** By lsof(8), as the user that the virtual machines belong to. */
export const createOpenFiles = ({
  tartHome,
  run = runToEnd,
}: {
  readonly tartHome: string;
  readonly run?: typeof runToEnd;
}): OpenFiles => ({
  check: async (names, signal) => {
    const answers = new Map<string, 'open' | 'closed'>();
    const files: string[] = [];
    const asked: { readonly name: string; readonly folder: string }[] = [];
    for (const name of names) {
      try {
        // lsof tells real paths.
        const folder = await realpath(join(tartHome, 'vms', name));
        const found = await readdir(folder);
        asked.push({ name, folder });
        files.push(folder, ...found.map((file) => join(folder, file)));
      } catch {
        // Not known, so not in the answer.
      }
    }
    if (asked.length === 0) return answers;
    try {
      // -w: no warnings about file systems that are not ours; -n -P: no names of hosts and ports are looked up.
      const args = ['-w', '-n', '-P', '-F', 'pn', '--', ...files];
      const { code, stdout, stderr } = await run('lsof', args, signal, deadlineMs);
      const open = parseOpenPaths(stdout);
      // 1 also means that one of the files is not open, which is the usual thing; an error says something.
      if (open === undefined || code > 1 || stderr.trim() !== '') return answers;
      // A path that was not asked about is one written in another way, and so says nothing of whose it is.
      if (open.some((path) => !asked.some(({ folder }) => isIn(path, folder)))) return answers;
      for (const { name, folder } of asked)
        answers.set(name, open.some((path) => isIn(path, folder)) ? 'open' : 'closed');
    } catch {
      // As above.
    }
    return answers;
  },
});
