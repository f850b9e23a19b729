import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Tool, ToolResult } from '../machine.ts';
import type { Owners } from './owners.ts';

const fail = (text: string, code = 71): ToolResult => ({ code, stderr: `install: ${text}\n` });

/** install(1) of BSD. If the target's folder is missing, its error names a temporary file. */
export const createInstall =
  (owners: Owners): Tool =>
  ({ args, cwd, asRoot }) => {
    let mode = 0o755;
    let folders = false;
    const to: { user?: string; group?: string } = {};
    const words = [...args];
    const files: string[] = [];
    while (words.length > 0) {
      const word = words.shift() ?? '';
      if (!word.startsWith('-') || word === '-') {
        files.push(word);
        continue;
      }
      let letters = word.slice(1);
      while (letters !== '') {
        const [letter = ''] = letters;
        letters = letters.slice(1);
        if (letter === 'd') folders = true;
        else if ('mog'.includes(letter)) {
          const value = letters || (words.shift() ?? '');
          letters = '';
          if (letter === 'm') mode = Number.parseInt(value, 8);
          else if (letter === 'o') to.user = value;
          else to.group = value;
        } else if (!'bcCpsSv'.includes(letter)) return fail(`illegal option -- ${letter}`, 64);
      }
    }
    const finish = (path: string): void => {
      chmodSync(path, mode);
      if (to.user !== undefined || to.group !== undefined) owners.change(path, to);
    };
    if ((to.user !== undefined || to.group !== undefined) && !asRoot) return fail('chown: Operation not permitted');
    if (folders) {
      for (const folder of files) {
        mkdirSync(resolve(cwd, folder), { recursive: true });
        finish(resolve(cwd, folder));
      }
      return { code: 0 };
    }
    const target = files.pop();
    if (target === undefined || files.length === 0) return fail('usage: install [-bCcpSsv] file1 file2', 64);
    const isFolder = statSync(resolve(cwd, target), { throwIfNoEntry: false })?.isDirectory() === true;
    for (const file of files) {
      const from = resolve(cwd, file);
      if (!existsSync(from)) return fail(`${file}: No such file or directory`);
      const path = isFolder ? join(resolve(cwd, target), basename(file)) : resolve(cwd, target);
      if (!existsSync(dirname(path))) return fail(`${dirname(target)}/INS@XXXX: No such file or directory`);
      rmSync(path, { force: true });
      copyFileSync(from, path);
      finish(path);
    }
    return { code: 0 };
  };
