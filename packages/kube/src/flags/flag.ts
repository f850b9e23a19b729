/** One row of the table: all that the parser, the help, the docs and the tests need. */
export interface Flag<T> {
  /** Without the dashes. */
  readonly name: string;
  /** Environment variable, used when the flag is not given. An empty variable counts as unset. */
  readonly env: string | undefined;
  /** Sentences for `--help` and the docs. */
  readonly help: string;
  readonly placeholder: string;
  readonly examples: readonly string[];
  /**
   * May be given without a value, meaning `true`. Never takes its value from the next argument: Go reads `--leader-elect
   * false` as true.
   */
  readonly isSwitch: boolean;
  readonly default: T;
  /** Empty without a default. */
  readonly defaultText: string;
  parse(text: string): Parsed<T>;
}

interface FlagOptions<T> {
  readonly type: FlagType<T>;
  readonly default: NoInfer<T>;
  readonly env?: string;
  readonly help: string;
}

export const flag = <T>(name: string, { type, default: initial, env, help }: FlagOptions<T>): Flag<T> => ({
  name,
  env,
  help,
  placeholder: type.placeholder,
  examples: type.examples,
  isSwitch: typeof initial === 'boolean',
  default: initial,
  defaultText: formatValue(type, initial),
  parse: (text) => type.parse(text),
});

/** Parses and formats the value of a flag. */
export interface FlagType<T> {
  /** Placeholder of the value in the help. */
  readonly placeholder: string;
  /** Valid values, shown with an error. */
  readonly examples: readonly string[];
  /** Total: handles any text. A problem continues a sentence that begins with the text: `has no unit`. */
  parse(text: string): Parsed<T>;
  /** The text a user would write. `String` by default. */
  format?(value: T): string;
}

const formatValue = <T>(type: FlagType<T>, value: T): string => type.format?.(value) ?? String(value);

type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** An empty text means unset: a chart may pass `--flag=` for an omitted value. */
export const optional = <T>(type: FlagType<T>): FlagType<T | undefined> => ({
  ...type,
  parse: (text) => (text === '' ? { value: undefined } : type.parse(text)),
  format: (value) => (value === undefined ? '' : formatValue(type, value)),
});

/** Comma-separated. Spaces around items and duplicates are ignored. */
export const listOf = <T>(item: FlagType<T>): FlagType<readonly T[]> => ({
  placeholder: `${item.placeholder},…`,
  examples: item.examples,
  parse: (text) => {
    const texts = new Set(
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );
    const values: T[] = [];
    for (const part of texts) {
      const parsed = item.parse(part);
      if ('problem' in parsed) return { problem: `holds ${quote(part)}, which ${parsed.problem}` };
      values.push(parsed.value);
    }
    return { value: values };
  },
  format: (values) => values.map((value) => formatValue(item, value)).join(','),
});

const maxQuotedLength = 80;

/** User input within a message: quoted, on one line, truncated, and without the password of a URL. */
export const quote = (text: string): string => {
  const open = text.replaceAll(/\/\/[^/]*@/g, '//…@');
  return JSON.stringify(open.length > maxQuotedLength ? `${open.slice(0, maxQuotedLength)}…` : open);
};

/** The flags of a program, with their environment variables. */
export interface FlagTable {
  /** In the order of the help and the docs. */
  readonly groups: readonly FlagGroup[];
  readonly rules: readonly FlagRule[];
  readonly removed?: readonly RemovedFlag[];
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly Flag<unknown>[];
}

/** Returns the value of a flag, or its default. */
export type ReadFlag = <T>(flag: Flag<T>) => T;

/** A constraint between flags. */
export interface FlagRule {
  /** For the docs. */
  readonly description: string;
  /** Which flags it reads. The rule is skipped if one of them is invalid. */
  readonly reads: readonly Flag<unknown>[];
  /** The problem, and what to do. */
  problem(read: ReadFlag): string | undefined;
}

/** A flag of another system that does not exist here. Known, so that its use fails with a helpful message rather than as a typo. */
export interface RemovedFlag {
  readonly name: string;
  readonly env: string | undefined;
  /** Completes: `removed: …`. */
  readonly reason: string;
}
