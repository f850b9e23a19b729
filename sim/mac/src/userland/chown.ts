import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { MacUser, Tool, ToolAnswer } from '../machine.ts';
import type { Owner, Owners } from './owners.ts';

const knownGroups = new Set(['wheel', 'staff', 'admin', 'daemon', 'everyone', 'nobody']);

const below = (path: string): string[] => {
  const here = lstatSync(path);
  return here.isDirectory() ? [path, ...readdirSync(path).flatMap((name) => below(join(path, name)))] : [path];
};

/** chown(8) and chgrp(1): only root gives files away. */
export const createChown = (owners: Owners, user: MacUser): Readonly<Record<'chown' | 'chgrp', Tool>> => {
  const userName = (word: string): string | undefined => {
    if (word === 'root' || word === '0') return 'root';
    if (word === user.name || word === String(user.uid)) return user.name;
    return word === 'daemon' || word === 'nobody' ? word : undefined;
  };
  const groupName = (word: string): string | undefined =>
    ({ 0: 'wheel', 20: 'staff', 80: 'admin' })[word] ?? (knownGroups.has(word) ? word : undefined);

  const change =
    (name: 'chown' | 'chgrp'): Tool =>
    ({ args, cwd, asRoot }): ToolAnswer => {
      const options = args.filter(
        (arg, index) => arg.startsWith('-') && args.slice(0, index).every((each) => each.startsWith('-')),
      );
      const [whom = '', ...files] = args.slice(options.length);
      if (files.length === 0)
        return { code: 1, stderr: `usage: ${name} [-fhnvx] [-R [-H | -L | -P]] owner file ...\n` };
      const letters = options.join('');
      const [userWord = '', groupWord = ''] = name === 'chgrp' ? ['', whom] : whom.split(/[:.]/, 2);
      const to: { user?: string; group?: string } = {};
      if (userWord !== '') {
        const found = userName(userWord);
        if (found === undefined) return { code: 1, stderr: `${name}: ${userWord}: illegal user name\n` };
        to.user = found;
      }
      if (groupWord !== '') {
        const found = groupName(groupWord);
        if (found === undefined) return { code: 1, stderr: `${name}: ${groupWord}: illegal group name\n` };
        to.group = found;
      }
      const errors: string[] = [];
      for (const file of files) {
        const path = resolve(cwd, file);
        if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) === undefined) {
          errors.push(`${name}: ${file}: No such file or directory`);
          continue;
        }
        const direct = letters.includes('h') || !existsSync(path) ? path : realpathSync(path);
        for (const each of letters.includes('R') ? below(direct) : [direct]) {
          if (!asRoot && differs(owners.ownerOf(each), to)) errors.push(`${name}: ${file}: Operation not permitted`);
          else owners.change(each, to);
        }
      }
      return errors.length === 0 ? { code: 0 } : { code: 1, stderr: `${errors.join('\n')}\n` };
    };

  return { chown: change('chown'), chgrp: change('chgrp') };
};

const differs = (now: Owner, to: Partial<Owner>): boolean =>
  (to.user !== undefined && to.user !== now.user) || (to.group !== undefined && to.group !== now.group);
