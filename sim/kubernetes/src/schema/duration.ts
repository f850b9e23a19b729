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
