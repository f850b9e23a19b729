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

/** strftime(3) of BSD in UTC: what it does not know, `%N` among it, comes out as the letter. */
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
export const parseDate = (format: string, text: string, now: number): number | undefined => {
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
