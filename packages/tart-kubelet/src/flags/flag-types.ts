import { isIPv4 } from 'node:net';

/** What a text comes to. A problem is the rest of a sentence that begins with the text: `is no whole number`. */
type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** How a text becomes a value. Total: every text has an answer. */
export interface FlagType<T> {
  /** Stands for the value in the help, and is one that it takes. */
  readonly example: string;
  parse(text: string): Parsed<T>;
}

/** One row of the table: all that the parser and the help know of a flag. */
export interface Flag<T> extends FlagType<T> {
  /** Without the dashes. */
  readonly name: string;
  /** Read when the flag is not given. An empty one counts as not set. */
  readonly env: string | undefined;
  readonly help: string;
  /** May stand alone, which means `true`. */
  readonly isSwitch: boolean;
  readonly defaultValue: T;
}

interface FlagDefinition<T> {
  readonly type: FlagType<T>;
  readonly defaultValue: NoInfer<T>;
  readonly help: string;
  readonly env?: string;
}

export const flag = <T>(name: string, { type, defaultValue, help, env }: FlagDefinition<T>): Flag<T> => ({
  ...type,
  name,
  env,
  help,
  defaultValue,
  isSwitch: typeof defaultValue === 'boolean',
});

/** Leaving the value empty is leaving the flag out: scripts pass `--flag=` for what they do not know. */
export const optional = <T>({ example, parse }: FlagType<T>): FlagType<T | undefined> => ({
  example,
  parse: (text) => (text === '' ? { value: undefined } : parse(text)),
});

export const booleanValue: FlagType<boolean> = {
  example: 'true',
  parse: (text) =>
    text === 'true' || text === 'false' ? { value: text === 'true' } : { problem: 'is neither true nor false' },
};

export const integerValue = (from: number, to: number, example: number): FlagType<number> => ({
  example: String(example),
  parse: (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isNaN(value)) return { problem: 'is no whole number' };
    return value >= from && value <= to ? { value } : { problem: `is not between ${from} and ${to}` };
  },
});

export const oneOf = <const Word extends string>(...words: readonly [Word, ...Word[]]): FlagType<Word> => ({
  example: words[0],
  parse: (text) => {
    const value = words.find((word) => word === text);
    return value === undefined ? { problem: `is none of ${words.join(', ')}` } : { value };
  },
});

/** A text that is taken as it stands, if it has the right form. */
export const matching = (pattern: RegExp, example: string, otherwise: string): FlagType<string> => ({
  example,
  parse: (text) => (pattern.test(text) ? { value: text } : { problem: otherwise }),
});

/** The working folder of a launchd job is `/`, but nobody should have to know that. */
// oxlint-disable-next-line no-control-regex -- No path has a NUL, and Node throws on one.
export const absolutePath = matching(/^\/[^\0]*$/, '/etc/tart-kubelet/kubeconfig', 'is no absolute path');

/** The longest name that is also a label's value, which `kubernetes.io/hostname` needs. */
export const nodeName = matching(
  /^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  'mac-1',
  'is no name of a Node: at most 63 lower-case letters, digits, dashes and dots',
);

/** `scheme://…`: never judged further, as whoever binds by it compares it to the byte. */
export const providerID = matching(
  /^[a-z][-a-z0-9+.]*:\/\/\/?[^\s/][^\s]*$/,
  'scw-applesilicon://fr-par-1/11111111-1111-1111-1111-111111111111',
  'is no provider id, which has the form scheme://place/server',
);

export const ipv4: FlagType<string> = {
  example: '10.0.0.7',
  parse: (text) => (isIPv4(text) ? { value: text } : { problem: 'is no IPv4 address' }),
};
