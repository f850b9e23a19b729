import type { FlagType } from './flag-type.ts';

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = String.raw`(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)`;
const whole = new RegExp(`^\\+?(?:${part})+$`);

/** Durations as Go writes them, which is what charts hold: `30m`, `1h30m`, `15m0s`, `1.5h`, `0`. In milliseconds. */
const parseGo = (text: string): number | undefined => {
  if (/^\+?0$/.test(text)) return 0;
  if (!whole.test(text)) return undefined;
  let ms = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(new RegExp(part, 'g')))
    ms += Number(amount) * (unitMs[unit] ?? 0);
  return Math.round(ms);
};

const units: readonly (readonly [string, number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** The shortest text: `1h30m`, and not Go's own `1h30m0s`. */
export const formatDuration = (ms: number): string => {
  let rest = ms;
  let text = '';
  for (const [unit, size] of units) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text === '' ? '0' : text;
};

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether 0 is taken although it is below the range: it turns off what the flag is about. */
  readonly zero?: boolean;
}

export const duration = ({ fromMs, toMs, zero = false }: Range): FlagType<number> => ({
  placeholder: 'duration',
  examples: ['15m', '1h30m'],
  format: formatDuration,
  parse: (text) => {
    if (/^[+-]?\d+$/.test(text) && !/^\+?0$/.test(text)) return { problem: 'has no unit (s, m or h)' };
    const ms = parseGo(text);
    if (ms === undefined) return { problem: text.startsWith('-') ? 'is below zero' : 'is no duration' };
    if ((ms === 0 && zero) || (ms >= fromMs && ms <= toMs)) return { value: ms };
    return { problem: `is not between ${formatDuration(fromMs)} and ${formatDuration(toMs)}${zero ? ', nor 0' : ''}` };
  },
});
