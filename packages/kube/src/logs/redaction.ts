import { inspect } from 'node:util';

/** Removes secrets from log output: by field name, by pattern, and by value. */
export interface Redactor {
  /** Redacts this value everywhere from now on. Ignores values shorter than four characters: they are too common. */
  add(value: string): void;
  /** The text with secrets redacted. */
  text(text: string): string;
  /** Whether a field with this name is secret, whatever its value. */
  isSecretName(name: string, value?: unknown): boolean;
  /** Length of the longest known secret. A truncated text must be cut that much shorter, or a part of a secret remains. */
  readonly longest: number;
}

export const redacted = '[redacted]';

/** Tokens rotate; a long-running process must not keep all of them. */
const maxValues = 2000;
const minValueLength = 4;

export const createRedactor = (): Redactor => {
  const values = new Set<string>();
  let longest = 0;
  let pattern: RegExp | undefined;
  const remember = (value: string): void => {
    if (value.length < minValueLength) return;
    values.delete(value);
    values.add(value);
    const [oldest] = values;
    if (values.size > maxValues && oldest !== undefined) values.delete(oldest);
    longest = Math.max(longest, value.length);
    pattern = undefined;
  };
  return {
    get longest() {
      return longest;
    },
    add: (value) => {
      for (const form of formsOf(value)) remember(form);
    },
    text: (text) => {
      pattern ??= patternOf(values);
      let clean = pattern === undefined ? text : text.replaceAll(pattern, redacted);
      for (const [shape, replacement] of shapes) clean = clean.replaceAll(shape, replacement);
      return clean;
    },
    isSecretName,
  };
};

/** The value itself, and its URL, JSON and base64 forms; for a PEM file also each line, as errors quote lines. */
const formsOf = (value: string): string[] => {
  const lines = value.split('\n').filter((line) => /^[A-Za-z0-9+/=]{16,}\s*$/.test(line));
  const whole = value.trim();
  if (whole.length < minValueLength) return [];
  return [
    whole,
    JSON.stringify(whole).slice(1, -1),
    encodeURIComponent(whole.toWellFormed()),
    Buffer.from(whole).toString('base64'),
    ...(value.includes('\n') ? lines.map((line) => line.trim()) : []),
  ];
};

/** Longest first, so that a secret whose prefix is another secret is redacted whole. */
const patternOf = (values: ReadonlySet<string>): RegExp | undefined => {
  if (values.size === 0) return undefined;
  const alternatives = [...values].sort((a, b) => b.length - a.length).map((value) => RegExp.escape(value));
  return new RegExp(alternatives.join('|'), 'g');
};

/** Secrets by pattern: private keys, headers, JSON web tokens, passwords in URLs. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, redacted],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${redacted}`],
  [/\beyJ[\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*)?/g, redacted],
  [/(:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${redacted}@`],
];

const secretWords = /token|passw|passphrase|secret|authorization|credential|kubeconfig|cookie|privatekey/;
/** `secretName` and `tokenFile` are references to a secret, not its value. */
const harmlessEndings = new Set(
  'name names namespace file path ref refs count kind type version id expiry expires at ms seconds'.split(' '),
);

const isSecretName = (name: string, value?: unknown): boolean => {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  const joined = words.join('');
  if (words.length > 1 && harmlessEndings.has(words.at(-1) ?? '')) return false;
  if (secretWords.test(joined)) return true;
  // A work queue key is `namespace/name`: nearly every line has one, so it must stay readable.
  if (joined === 'key') return !looksLikeObjectKey(value);
  return joined !== 'publickey' && words.some((word) => /keys?$/.test(word));
};

const looksLikeObjectKey = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= 317 &&
  /^(?:[a-z0-9][a-z0-9-]*\/)?[a-z0-9][a-z0-9.:-]*$/.test(value) &&
  !/^[0-9a-f-]{32,}$/.test(value);

/** A value that prints, logs and serialises as `[redacted]`. */
export interface Secret {
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

/** A private field hides the value from spread, `Object.entries` and deep `inspect` too. */
class RedactedSecret implements Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [inspect.custom](): string {
    return redacted;
  }
}

export const createSecret = (value: string): Secret => new RedactedSecret(value);
