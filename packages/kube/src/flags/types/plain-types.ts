import type { FlagType } from './flag-type.ts';

/** The words that Go takes, so that a chart of the original means the same here. */
const words: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

export const yesOrNo: FlagType<boolean> = {
  placeholder: 'true|false',
  examples: ['true', 'false'],
  format: String,
  parse: (text) => {
    const value = words.get(text);
    return value === undefined ? { problem: 'is neither true nor false' } : { value };
  },
};

/** A whole number of something. */
export const count = ({ from, to }: { from: number; to: number }): FlagType<number> => ({
  placeholder: 'number',
  examples: [`${Math.max(from, Math.min(to, 4))}`],
  format: String,
  parse: (text) => {
    if (!/^[+-]?\d+$/.test(text)) return { problem: 'is no whole number' };
    const value = Number(text);
    return value >= from && value <= to ? { value } : { problem: `is not between ${from} and ${to}` };
  },
});

export const oneOf = <const T extends string>(choices: readonly T[]): FlagType<T> => ({
  placeholder: choices.join('|'),
  examples: choices,
  format: String,
  parse: (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `is none of ${choices.join(', ')}` } : { value };
  },
});

interface Shape {
  readonly placeholder: string;
  readonly example: string;
  readonly pattern: RegExp;
  readonly longest?: number;
  /** Completes: `"x" …`. */
  readonly otherwise: string;
}

/** A text that stays what it is. */
export const shaped = ({
  placeholder,
  example,
  pattern,
  longest = Number.POSITIVE_INFINITY,
  otherwise,
}: Shape): FlagType<string> => ({
  placeholder,
  examples: [example],
  format: String,
  parse: (text) => {
    if (text === '') return { problem: 'is empty' };
    if (text.length > longest) return { problem: `is longer than ${longest} characters` };
    return pattern.test(text) ? { value: text } : { problem: otherwise };
  },
});

/** Of a file in our own image: a relative one would depend on who started us. */
export const absolutePath = shaped({
  placeholder: 'path',
  example: '/opt/tart/tart.tar.gz',
  // oxlint-disable-next-line no-control-regex -- No path has a NUL, and Node throws on one.
  pattern: /^\/[^\0]*$/,
  otherwise: 'is no absolute path',
});

export const anyPath = shaped({
  placeholder: 'path',
  example: '/etc/provider/kubeconfig',
  // oxlint-disable-next-line no-control-regex -- as above
  pattern: /^[^\0]+$/,
  otherwise: 'is no path',
});

export const namespaceName = shaped({
  placeholder: 'namespace',
  example: 'tuist',
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  longest: 63,
  otherwise: 'is no name of a namespace (lower-case letters, digits and dashes)',
});

export const objectName = shaped({
  placeholder: 'name',
  example: 'xcresult-processor',
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  otherwise: 'is no name of a Kubernetes object (lower-case letters, digits, dashes and dots)',
});
