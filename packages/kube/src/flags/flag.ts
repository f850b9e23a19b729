import type { FlagType, Parsed } from './types/flag-type.ts';

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

interface Row<T> {
  readonly type: FlagType<T>;
  readonly default: NoInfer<T>;
  readonly env?: string;
  readonly help: string;
}

export const flag = <T>(name: string, { type, default: initial, env, help }: Row<T>): Flag<T> => ({
  name,
  env,
  help,
  placeholder: type.placeholder,
  examples: type.examples,
  isSwitch: typeof initial === 'boolean',
  default: initial,
  defaultText: type.format(initial),
  parse: (text) => type.parse(text),
});
