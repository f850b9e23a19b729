import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Machine, Tool, ToolAnswer } from '../machine.ts';
import { formatDate, parseDate } from './date-format.ts';

const usage = (complaint: string): ToolAnswer => ({
  code: 1,
  stderr: `date: ${complaint}\nusage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-r seconds|file] [-v[+|-]val[y|m|w|d|H|M|S]] [-f input_fmt] [new_date] [+output_fmt]\n`,
});

const units: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, H: 3600, M: 60, S: 1 };

/** date(1) of BSD, by the clock of this Mac, which stands in UTC. GNU's -d and %N are unknown to it. */
export const createDate =
  (machine: Machine): Tool =>
  ({ args, cwd }) => {
    let at = machine.clock.now();
    let inputFormat: string | undefined;
    let output = '+%a %b %e %H:%M:%S %Z %Y';
    const words = [...args];
    const shifts: number[] = [];
    while (words.length > 0) {
      const word = words.shift() ?? '';
      if (word.startsWith('+')) output = word;
      else if (word === '-r') {
        const value = words.shift();
        if (value === undefined) return usage('option requires an argument -- r');
        const file = statSync(resolve(cwd, value), { throwIfNoEntry: false });
        if (/^-?(0x[\da-f]+|\d+)$/i.test(value)) at = Number(value) * 1000;
        else if (file !== undefined) at = file.mtimeMs;
        else return { code: 1, stderr: `date: ${value}: No such file or directory\n` };
      } else if (word === '-f') inputFormat = words.shift();
      else if (word.startsWith('-v')) {
        const {
          sign,
          number,
          unit = '',
        } = /^(?<sign>[+-])(?<number>\d+)(?<unit>[wdHMS])$/.exec(word.slice(2) || (words.shift() ?? ''))?.groups ?? {};
        if (number === undefined) return { code: 1, stderr: `date: ${word}: Cannot apply date adjustment\n` };
        shifts.push(Number(`${sign}${number}`) * (units[unit] ?? 0) * 1000);
      } else if (word === '-Iseconds') output = '+%Y-%m-%dT%H:%M:%S+00:00';
      else if (word === '-I') output = '+%Y-%m-%d';
      else if (word === '-R') output = '+%a, %d %b %Y %H:%M:%S %z';
      else if (/^-[jnu]+$/.test(word)) continue;
      else if (word.startsWith('--')) return usage('illegal option -- -');
      else if (word.startsWith('-')) return usage(`illegal option -- ${word[1]}`);
      else if (inputFormat !== undefined) {
        const parsed = parseDate(inputFormat, word, at);
        if (parsed === undefined) {
          return usage(`Failed conversion of \`\`${word}'' using format \`\`${inputFormat}''`);
        }
        at = parsed;
      } else return usage('illegal time format');
    }
    const shifted = shifts.reduce((sum, shift) => sum + shift, at);
    return { code: 0, stdout: `${formatDate(output.slice(1), shifted)}\n` };
  };
