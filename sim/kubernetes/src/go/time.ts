/** Times as Go parses and prints them: its error texts are on the wire. */

const seconds = '2006-01-02T15:04:05Z07:00';
const micros = '2006-01-02T15:04:05.000000Z07:00';

/** A parse error, in Go's words. */
export class TimeError extends Error {}

interface Reading {
  text: string;
  layout: string;
  rest: string;
}

const mismatch = ({ text, layout, rest }: Reading, element: string): TimeError =>
  new TimeError(
    `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(element)}`,
  );

const outOfRange = (text: string, what: string): TimeError =>
  new TimeError(`parsing time ${JSON.stringify(text)}: ${what} out of range`);

const literal = (reading: Reading, element: string): void => {
  if (!reading.rest.startsWith(element)) throw mismatch(reading, element);
  reading.rest = reading.rest.slice(element.length);
};

const digits = (reading: Reading, pattern: RegExp, element: string): number => {
  const match = pattern.exec(reading.rest);
  if (!match) throw mismatch(reading, element);
  reading.rest = reading.rest.slice(match[0].length);
  return Number(match[0]);
};

/** Microseconds: exactly six digits in the MicroTime layout, any number of digits in the other. */
const fraction = (reading: Reading): string => {
  const match = (reading.layout === micros ? /^[.,](\d{6})/ : /^[.,](\d+)/).exec(reading.rest);
  if (!match && reading.layout === micros) throw mismatch(reading, '.000000');
  if (!match) return '';
  reading.rest = reading.rest.slice(match[0].length);
  return (match[1] ?? '').padEnd(6, '0').slice(0, 6);
};

/** Minutes east of Greenwich. */
const zone = (reading: Reading): number => {
  const match = /^(?:Z|([+-])(\d\d):(\d\d))/.exec(reading.rest);
  if (!match) throw mismatch(reading, 'Z07:00');
  reading.rest = reading.rest.slice(match[0].length);
  const [, sign, hours, minutes] = match;
  if (sign === undefined) return 0;
  if (Number(hours) > 24) throw outOfRange(reading.text, 'time zone offset hour');
  if (Number(minutes) > 60) throw outOfRange(reading.text, 'time zone offset minute');
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

const parse = (text: string, layout: string): { milliseconds: number; fraction: string } => {
  const reading: Reading = { text, layout, rest: text };
  const year = digits(reading, /^\d{4}/, '2006');
  literal(reading, '-');
  const month = digits(reading, /^\d\d/, '01');
  if (month < 1 || month > 12) throw outOfRange(text, 'month');
  literal(reading, '-');
  const day = digits(reading, /^\d\d/, '02');
  literal(reading, 'T');
  const hour = digits(reading, /^\d\d?/, '15');
  if (hour > 23) throw outOfRange(text, 'hour');
  literal(reading, ':');
  const minute = digits(reading, /^\d\d/, '04');
  if (minute > 59) throw outOfRange(text, 'minute');
  literal(reading, ':');
  const second = digits(reading, /^\d\d/, '05');
  if (second > 59) throw outOfRange(text, 'second');
  const parts = fraction(reading);
  const offset = zone(reading);
  if (reading.rest !== '')
    throw new TimeError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(reading.rest)}`);
  const lastDay = new Date(Date.UTC(2000, month, 0)).getUTCDate() - (month === 2 && !isLeap(year) ? 1 : 0);
  if (day < 1 || day > lastDay) throw outOfRange(text, 'day');
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return { milliseconds: date.setUTCHours(hour, minute - offset, second), fraction: parts };
};

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const upToSeconds = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 19);

/** metav1.Time: whole seconds in UTC. Throws TimeError. */
export const canonicalTime = (text: string): string => `${upToSeconds(parse(text, seconds).milliseconds)}Z`;

/** metav1.MicroTime: exactly six digits, in UTC. Throws TimeError. */
export const canonicalMicroTime = (text: string): string => {
  const time = parse(text, micros);
  return `${upToSeconds(time.milliseconds)}.${time.fraction}Z`;
};

/** Durations of the `duration` format: those of Go (`1h30m`), and words (`3 days`). */

const goPart = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

const nanoseconds: readonly (readonly [unit: string, factor: bigint])[] = [
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
];

const parts = (text: string): [amount: string, unit: string][] | undefined => {
  const found = [...text.matchAll(goPart)];
  if (found.length === 0 || found.map(([all]) => all).join('') !== text) return undefined;
  return found.map(([, amount = '0', unit = 's']) => [amount, unit]);
};

/** Nanoseconds of a duration as Go's `time.ParseDuration` reads it. */
export const parseDuration = (text: string): bigint | undefined => {
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0n;
  const found = parts(body);
  if (!found) return undefined;
  let total = 0n;
  for (const [amount, unit] of found) {
    const factor = nanoseconds.find(([name]) => name === unit)?.[1] ?? 0n;
    const [whole = '', fraction = ''] = amount.split('.');
    total += BigInt(whole || '0') * factor;
    if (fraction !== '') total += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length);
  }
  return text.startsWith('-') ? -total : total;
};

const words =
  /^(ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)$|^(nano|micro|milli|sec|min|hour|day|week)/i;

export const isDuration = (text: string): boolean =>
  parseDuration(text) !== undefined ||
  [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some(([, unit = '']) => words.test(unit));
