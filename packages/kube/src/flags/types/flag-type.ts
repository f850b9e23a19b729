/** How the text of a flag becomes a value. */
export interface FlagType<T> {
  /** Stands for the value in the help. */
  readonly placeholder: string;
  /** Values that it takes, for people who gave one that it does not. */
  readonly examples: readonly string[];
  /** Total: answers every text. A problem is the rest of a sentence that begins with the text: `has no unit`. */
  parse(text: string): Parsed<T>;
  /** The text that a person would write for it. */
  format(value: T): string;
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** An empty text means that it is not set, as in the original: a chart may pass `--flag=` for what it leaves out. */
export const optional = <T>(type: FlagType<T>): FlagType<T | undefined> => ({
  ...type,
  parse: (text) => (text === '' ? { value: undefined } : type.parse(text)),
  format: (value) => (value === undefined ? '' : type.format(value)),
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
      if ('problem' in parsed) return { problem: `holds ${shown(part)}, which ${parsed.problem}` };
      values.push(parsed.value);
    }
    return { value: values };
  },
  format: (values) => values.map((value) => item.format(value)).join(','),
});

const longest = 80;

/** A text from outside, inside a sentence: in quotes, on one line, not endless, and without the password of a URL. */
export const shown = (text: string): string => {
  const open = text.replaceAll(/\/\/[^/]*@/g, '//…@');
  return JSON.stringify(open.length > longest ? `${open.slice(0, longest)}…` : open);
};
