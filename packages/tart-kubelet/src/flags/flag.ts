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
  readonly initial: T;
}

interface Row<T> {
  readonly type: FlagType<T>;
  readonly initial: NoInfer<T>;
  readonly help: string;
  readonly env?: string;
}

export const flag = <T>(name: string, { type, initial, help, env }: Row<T>): Flag<T> => ({
  ...type,
  name,
  env,
  help,
  initial,
  isSwitch: typeof initial === 'boolean',
});
