import type { FlagType } from './flag.ts';

/** The words that Go's strconv.ParseBool accepts. */
const trueWords = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

export const bool: FlagType<boolean> = {
  placeholder: 'true|false',
  examples: ['true', 'false'],
  parse: (text) => {
    if (trueWords.includes(text)) return { value: true };
    return falseWords.includes(text) ? { value: false } : { problem: 'is neither true nor false' };
  },
};

/** A whole number of something. */
export const integer = ({ from, to }: { from: number; to: number }): FlagType<number> => ({
  placeholder: 'number',
  examples: [`${Math.max(from, Math.min(to, 4))}`],
  parse: (text) => {
    if (!/^[+-]?\d+$/.test(text)) return { problem: 'is no whole number' };
    const value = Number(text);
    return value >= from && value <= to ? { value } : { problem: `is not between ${from} and ${to}` };
  },
});

export const oneOf = <const T extends string>(choices: readonly T[]): FlagType<T> => ({
  placeholder: choices.join('|'),
  examples: choices,
  parse: (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `is none of ${choices.join(', ')}` } : { value };
  },
});

interface StringPattern {
  readonly placeholder: string;
  readonly example: string;
  readonly pattern: RegExp;
  readonly longest?: number;
  /** Completes: `"x" …`. */
  readonly otherwise: string;
}

/** Text, used as it is. */
export const stringMatching = ({
  placeholder,
  example,
  pattern,
  longest = Number.POSITIVE_INFINITY,
  otherwise,
}: StringPattern): FlagType<string> => ({
  placeholder,
  examples: [example],
  parse: (text) => {
    if (text === '') return { problem: 'is empty' };
    if (text.length > longest) return { problem: `is longer than ${longest} characters` };
    return pattern.test(text) ? { value: text } : { problem: otherwise };
  },
});

/** A file in the image. A relative path would depend on the working directory. */
export const absolutePath = stringMatching({
  placeholder: 'path',
  example: '/opt/tart/tart.tar.gz',
  // oxlint-disable-next-line no-control-regex -- No path has a NUL, and Node throws on one.
  pattern: /^\/[^\0]*$/,
  otherwise: 'is no absolute path',
});

export const anyPath = stringMatching({
  placeholder: 'path',
  example: '/etc/provider/kubeconfig',
  // oxlint-disable-next-line no-control-regex -- as above
  pattern: /^[^\0]+$/,
  otherwise: 'is no path',
});

export const namespaceName = stringMatching({
  placeholder: 'namespace',
  example: 'tuist',
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  longest: 63,
  otherwise: 'is no name of a namespace (lower-case letters, digits and dashes)',
});

export const objectName = stringMatching({
  placeholder: 'name',
  example: 'xcresult-processor',
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  otherwise: 'is no name of a Kubernetes object (lower-case letters, digits, dashes and dots)',
});

/** Largest to smallest. */
const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
const unitMs = new Map(Object.entries(units));

const durationPart = String.raw`(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)`;
const durationPattern = new RegExp(`^\\+?(?:${durationPart})+$`);

/** Go durations, as charts use them: `30m`, `1h30m`, `15m0s`, `1.5h`, `0`. In milliseconds. */
const parseGoDuration = (text: string): number | undefined => {
  if (/^\+?0$/.test(text)) return 0;
  if (!durationPattern.test(text)) return undefined;
  let ms = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(new RegExp(durationPart, 'g')))
    ms += Number(amount) * (unitMs.get(unit) ?? 0);
  return Math.round(ms);
};

/** The shortest form: `1h30m`, not Go's `1h30m0s`. */
export const formatDuration = (ms: number): string => {
  let rest = ms;
  let text = '';
  for (const [unit, size] of unitMs) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text === '' ? '0' : text;
};

interface DurationRange {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether 0, which disables the feature, is valid although below the range. */
  readonly zero?: boolean;
}

export const duration = ({ fromMs, toMs, zero = false }: DurationRange): FlagType<number> => ({
  placeholder: 'duration',
  examples: ['15m', '1h30m'],
  format: formatDuration,
  parse: (text) => {
    if (/^[+-]?\d+$/.test(text) && !/^\+?0$/.test(text)) return { problem: 'has no unit (s, m or h)' };
    const ms = parseGoDuration(text);
    if (ms === undefined) return { problem: text.startsWith('-') ? 'is below zero' : 'is no duration' };
    if ((ms === 0 && zero) || (ms >= fromMs && ms <= toMs)) return { value: ms };
    return { problem: `is not between ${formatDuration(fromMs)} and ${formatDuration(toMs)}${zero ? ', nor 0' : ''}` };
  },
});
