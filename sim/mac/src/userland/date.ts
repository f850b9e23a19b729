import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Machine, Tool, ToolResult } from '../machine.ts';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = 'January February March April May June July August September October November December'.split(' ');

const two = (value: number): string => String(value).padStart(2, '0');

const fields: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => (days[date.getUTCDay()] ?? '').slice(0, 3),
  A: (date) => days[date.getUTCDay()] ?? '',
  b: (date) => (months[date.getUTCMonth()] ?? '').slice(0, 3),
  B: (date) => months[date.getUTCMonth()] ?? '',
  d: (date) => two(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2),
  F: (date) => date.toISOString().slice(0, 10),
  H: (date) => two(date.getUTCHours()),
  j: (date) =>
    String(
      (Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) - Date.UTC(date.getUTCFullYear(), 0, 0)) /
        86_400_000,
    ).padStart(3, '0'),
  m: (date) => two(date.getUTCMonth() + 1),
  M: (date) => two(date.getUTCMinutes()),
  n: () => '\n',
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  S: (date) => two(date.getUTCSeconds()),
  t: () => '\t',
  T: (date) => date.toISOString().slice(11, 19),
  u: (date) => String(date.getUTCDay() || 7),
  w: (date) => String(date.getUTCDay()),
  y: (date) => two(date.getUTCFullYear() % 100),
  Y: (date) => String(date.getUTCFullYear()),
  z: () => '+0000',
  Z: () => 'UTC',
  '%': () => '%',
};

/** strftime(3) of BSD in UTC: unknown conversions, such as `%N`, print the letter. */
export const formatDate = (format: string, milliseconds: number): string =>
  format.replace(/%(.)/gs, (_, letter: string) => fields[letter]?.(new Date(milliseconds)) ?? letter);

const patterns: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  m: '(?<m>\\d{1,2})',
  d: '(?<d>\\d{1,2})',
  e: '\\s*(?<d>\\d{1,2})',
  H: '(?<H>\\d{1,2})',
  M: '(?<M>\\d{1,2})',
  S: '(?<S>\\d{1,2})',
  b: '(?<b>[A-Za-z]{3})',
  a: '[A-Za-z]{3}',
  s: '(?<s>\\d+)',
  Z: '[A-Z]+',
  z: '[+-]\\d{4}',
  T: '(?<H>\\d{2}):(?<M>\\d{2}):(?<S>\\d{2})',
  F: '(?<Y>\\d{4})-(?<m>\\d{2})-(?<d>\\d{2})',
};

/** strptime(3) in UTC, in milliseconds; `undefined` when the text does not match. */
const parseDate = (format: string, text: string, now: number): number | undefined => {
  const escaped = format.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const pattern = escaped.replace(/%(.)/g, (_, letter: string) => patterns[letter] ?? letter);
  const found = new RegExp(`^${pattern}`).exec(text)?.groups;
  if (found === undefined && !new RegExp(`^${pattern}`).test(text)) return undefined;
  const { s, Y, m, b, d, H, M, S } = found ?? {};
  if (s !== undefined) return Number(s) * 1000;
  const today = new Date(now);
  const month =
    b === undefined ? Number(m ?? today.getUTCMonth() + 1) - 1 : months.findIndex((each) => each.startsWith(b));
  const year = Number(Y ?? today.getUTCFullYear());
  const day = Number(d ?? today.getUTCDate());
  return Date.UTC(year, month, day, Number(H ?? today.getUTCHours()), Number(M ?? 0), Number(S ?? 0));
};

const usage = (error: string): ToolResult => ({
  code: 1,
  stderr: `date: ${error}\nusage: date [-jnRu] [-I[date|hours|minutes|seconds|ns]] [-r seconds|file] [-v[+|-]val[y|m|w|d|H|M|S]] [-f input_fmt] [new_date] [+output_fmt]\n`,
});

const adjustmentUnits: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, H: 3600, M: 60, S: 1 };

/** date(1) of BSD, by the clock of this Mac, in UTC. Does not know -d and %N of GNU. */
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
        shifts.push(Number(`${sign}${number}`) * (adjustmentUnits[unit] ?? 0) * 1000);
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
