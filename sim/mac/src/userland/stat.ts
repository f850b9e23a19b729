import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Machine, Tool } from '../machine.ts';
import { formatDate } from './date.ts';

const kind = (stats: Stats): string => {
  if (stats.isDirectory()) return '/';
  if (stats.isSymbolicLink()) return '@';
  if (stats.isFIFO()) return '|';
  return (stats.mode & 0o111) === 0 ? '' : '*';
};

const permissions = (stats: Stats): string => {
  const type = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : stats.isFIFO() ? 'p' : '-';
  const bits = [8, 7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (stats.mode & (1 << bit) ? 'rwxrwxrwx'[8 - bit] : '-'));
  return `${type}${bits.join('')}`;
};

const seconds = (milliseconds: number): string => String(Math.floor(milliseconds / 1000));

/** stat(1) of BSD: formats by -f, which does not know `\t`; GNU's -c does not exist. */
export const createStat =
  (machine: Machine): Tool =>
  ({ args, cwd }) => {
    let format = '%d %i %Sp %l %Su %Sg %r %z "%Sa" "%Sm" "%Sc" "%SB" %k %b %#Xf %N';
    let newline = '\n';
    let timeFormat = '%b %e %H:%M:%S %Y';
    let follow = false;
    const files = [...args];
    const usage = (option: string) => ({
      code: 1,
      stderr: `stat: illegal option -- ${option}\nusage: stat [-FLnq] [-f format | -l | -r | -s | -x] [-t timefmt] [file ...]\n`,
    });
    for (let word = files[0]; word?.startsWith('-') && word !== '-'; word = files[0]) {
      files.shift();
      if (word === '--') break;
      let letters = word.slice(1);
      while (letters !== '') {
        const [letter = ''] = letters;
        letters = letters.slice(1);
        if (letter === 'L') follow = true;
        else if (letter === 'n') newline = '';
        else if (letter === 'f' || letter === 't') {
          const value = letters === '' ? files.shift() : letters;
          letters = '';
          if (value === undefined) return usage(letter);
          if (letter === 'f') format = value;
          else timeFormat = value;
        } else if (letter !== 'q') return usage(letter);
      }
    }

    const user = (name: string): string => (name === 'root' ? '0' : String(machine.user.uid));
    const group = (name: string): string => ({ wheel: '0', staff: '20', admin: '80' })[name] ?? '1';
    const show = (file: string): string => {
      const path = resolve(cwd, file);
      const stats = follow ? statSync(path) : lstatSync(path);
      const owner = machine.ownerOf(path);
      const time = (asText: boolean, milliseconds: number): string =>
        asText ? formatDate(timeFormat, milliseconds) : seconds(milliseconds);
      return format.replace(
        /%(?<flags>[#+ 0-]*)(?<width>\d*)(?<output>[DOUXFS]?)(?<sub>[HML]?)(?<field>[diplugrzamcBbkfvNTYn%t])/g,
        (...match): string => {
          const { flags = '', width = '', output = '', sub = '', field = '' } = match.at(-1) as Record<string, string>;
          const asText = output === 'S';
          const fields: Readonly<Record<string, () => string>> = {
            d: () => String(stats.dev),
            i: () => String(stats.ino),
            p: () => {
              if (asText) return permissions(stats);
              const mode = sub === 'L' ? stats.mode & 0o777 : sub === 'M' ? (stats.mode >> 9) & 0o7 : stats.mode;
              // %p is octal by default.
              const text = output === 'D' ? String(mode) : mode.toString(8);
              return flags.includes('#') ? `0${text}` : text;
            },
            l: () => String(stats.nlink),
            u: () => (asText ? owner.user : user(owner.user)),
            g: () => (asText ? owner.group : group(owner.group)),
            r: () => '0',
            z: () => String(stats.size),
            a: () => time(asText, stats.atimeMs),
            m: () => time(asText, stats.mtimeMs),
            c: () => time(asText, stats.ctimeMs),
            B: () => time(asText, stats.birthtimeMs),
            b: () => String(stats.blocks),
            k: () => String(stats.blksize),
            f: () => '0',
            v: () => '0',
            N: () => file,
            T: () => kind(stats),
            Y: () => (stats.isSymbolicLink() ? readlinkSync(path) : ''),
            n: () => '\n',
            t: () => '\t',
            '%': () => '%',
          };
          const text = fields[field]?.() ?? '';
          return flags.includes('-') ? text.padEnd(Number(width)) : text.padStart(Number(width));
        },
      );
    };

    let stdout = '';
    let stderr = '';
    for (const file of files) {
      try {
        stdout += `${show(file)}${newline}`;
      } catch {
        stderr += `stat: ${file}: stat: No such file or directory\n`;
      }
    }
    return { code: stderr === '' ? 0 : 1, stdout, stderr };
  };
