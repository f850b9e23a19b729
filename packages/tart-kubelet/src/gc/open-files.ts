import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { runToEnd } from '../facts/run-command.ts';

/** lsof walks all processes, and may hang on an unresponsive file system. */
const deadlineMs = 30_000;

/** Whether any process has files of VMs open. */
export interface OpenFiles {
  /** By name. Unknown ones are absent, and count as open (B6). Never rejects. */
  check(names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, 'open' | 'closed'>>;
}

/**
 * The paths in the output of `lsof -F pn`: a `p` line per process, then an `n` line per file. `undefined` for any other text. A deleted
 * file may have a remark after its path.
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

/** Uses lsof(8), as the user that owns the VMs. */
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
        // lsof prints real paths.
        const folder = await realpath(join(tartHome, 'vms', name));
        const found = await readdir(folder);
        asked.push({ name, folder });
        files.push(folder, ...found.map((file) => join(folder, file)));
      } catch {
        // Unknown, so absent in the result.
      }
    }
    if (asked.length === 0) return answers;
    try {
      // -w: no warnings about other file systems; -n -P: no lookup of host and port names.
      const args = ['-w', '-n', '-P', '-F', 'pn', '--', ...files];
      const { code, stdout, stderr } = await run('lsof', args, signal, deadlineMs);
      const open = parseOpenPaths(stdout);
      // Exit code 1 also means that one of the files is not open, which is normal; a real error writes to stderr.
      if (open === undefined || code > 1 || stderr.trim() !== '') return answers;
      // An unexpected path is one of ours in another spelling, so the whole result is unreliable.
      if (open.some((path) => !asked.some(({ folder }) => isIn(path, folder)))) return answers;
      for (const { name, folder } of asked)
        answers.set(name, open.some((path) => isIn(path, folder)) ? 'open' : 'closed');
    } catch {
      // Unknown, as above.
    }
    return answers;
  },
});
