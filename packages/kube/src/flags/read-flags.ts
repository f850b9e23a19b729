import type { FlagTable, Read } from './flag-table.ts';
import { type Environment, type Given, readArguments, readEnvironment } from './read-arguments.ts';
import { shown } from './types/flag-type.ts';

export type FlagsRead =
  /** Every rule holds. */
  | { readonly read: Read }
  | { readonly wantsHelp: true }
  /** All of them at once: a chart is not mended one restart at a time. */
  | { readonly errors: readonly string[] };

const problemOf = ({ flag, text, source }: Given): string | undefined => {
  const parsed = flag.parse(text);
  return 'problem' in parsed
    ? `${source}: ${shown(text)} ${parsed.problem}. Write something like ${flag.examples.join(' or ')}.`
    : undefined;
};

/**
 * What a program was told to be, from its arguments (without the program's name) and its environment. Pure and total.
 *
 * Flow: the command line, then variables for what it leaves out, then defaults; then what must hold between flags.
 * Guarantees: no value of an unknown flag, and no variable that belongs to none of the table's, is in an error.
 */
export const readFlags = (table: FlagTable, argv: readonly string[], env: Environment): FlagsRead => {
  const fromArguments = readArguments(table, argv);
  if (fromArguments.wantsHelp) return { wantsHelp: true };
  const fromEnvironment = readEnvironment(table, env, fromArguments.given);
  const given = [...fromArguments.given, ...fromEnvironment.given];
  const texts = new Map(given.map(({ flag, text }) => [flag.name, text]));

  const read: Read = (flag) => {
    const text = texts.get(flag.name);
    const parsed = text === undefined ? { value: flag.default } : flag.parse(text);
    return 'value' in parsed ? parsed.value : flag.default;
  };

  const notUnderstood = given.filter((one) => problemOf(one) !== undefined);
  const unreadable = new Set(notUnderstood.map(({ flag }) => flag.name));
  const errors = [
    ...fromArguments.problems,
    ...fromEnvironment.problems,
    ...notUnderstood.map(problemOf),
    ...table.rules
      .filter(({ reads }) => !reads.some(({ name }) => unreadable.has(name)))
      .map(({ problem }) => problem(read)),
  ].filter((error) => error !== undefined);
  return errors.length === 0 ? { read } : { errors };
};
