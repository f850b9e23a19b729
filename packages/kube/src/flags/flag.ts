/** One row of the table: everything that the parser, the help, the docs and the tests know of a flag. */
export interface Flag<T> {
  /** Without the dashes. */
  readonly name: string;
  /** Read when the flag is not given. An empty one counts as not set. */
  readonly env: string | undefined;
  /** Sentences for `--help` and the docs. */
  readonly help: string;
  readonly placeholder: string;
  readonly examples: readonly string[];
  /** May stand alone, which means `true`. Its value is never the next argument: Go reads `--leader-elect false` as true. */
  readonly isSwitch: boolean;
  readonly default: T;
  /** Empty when there is none. */
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

/** How the text of a flag becomes a value. */
export interface FlagType<T> {
  /** Stands for the value in the help. */
  readonly placeholder: string;
  /** Values that it takes, for people who gave one that it does not. */
  readonly examples: readonly string[];
  /** Total: answers every text. A problem is the rest of a sentence that begins with the text: `has no unit`. */
  parse(text: string): Parsed<T>;
  /** The text that a person would write for it. `String` by default. */
  format?(value: T): string;
}

const formatValue = <T>(type: FlagType<T>, value: T): string => type.format?.(value) ?? String(value);

type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** An empty text means that it is not set, as in the original: a chart may pass `--flag=` for what it leaves out. */
export const optional = <T>(type: FlagType<T>): FlagType<T | undefined> => ({
  ...type,
  parse: (text) => (text === '' ? { value: undefined } : type.parse(text)),
  format: (value) => (value === undefined ? '' : formatValue(type, value)),
});

/** Separated by commas. Spaces around an item and repeated items do no harm. */
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

/** A text from outside, inside a sentence: in quotes, on one line, not endless, and without the password of a URL. */
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

/** The value of a flag, its default if it was not given. */
export type ReadFlag = <T>(flag: Flag<T>) => T;

/** Something that must hold between flags. */
export interface FlagRule {
  /** For the docs. */
  readonly description: string;
  /** Which flags it reads. When the value of one cannot be understood, the rule has nothing to say. */
  readonly reads: readonly Flag<unknown>[];
  /** What is wrong, and what to do. */
  problem(read: ReadFlag): string | undefined;
}

/** A flag of another system that has no meaning here. It is told apart from a typing error, so that its chart fails with a text that helps. */
export interface RemovedFlag {
  readonly name: string;
  readonly env: string | undefined;
  /** Completes: `removed: …`. */
  readonly because: string;
}
