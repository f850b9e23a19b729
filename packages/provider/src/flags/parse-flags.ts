import { helpText } from './help-text.ts';
import { type ProviderOptions, providerOptions } from './provider-options.ts';
import { type Environment, type Given, readArguments, readEnvironment } from './read-arguments.ts';
import { type Read, rules } from './rules.ts';
import { shown } from './types/flag-type.ts';

export type ParsedFlags =
  | { readonly options: ProviderOptions }
  | { readonly help: string }
  /** All of them at once: a chart is not mended one restart at a time. */
  | { readonly errors: readonly string[] };

const problemOf = ({ flag, text, source }: Given): string | undefined => {
  const parsed = flag.parse(text);
  return 'problem' in parsed
    ? `${source}: ${shown(text)} ${parsed.problem}. Write something like ${flag.examples.join(' or ')}.`
    : undefined;
};

/**
 * What the manager was told to be, from its arguments (without the program's name) and its environment. Pure and total.
 *
 * Flow: the command line, then variables for what it leaves out, then defaults; then what must hold between flags.
 * Guarantees: no value of an unknown flag, and no variable that belongs to none of ours, is in an error.
 */
export const parseFlags = (argv: readonly string[], env: Environment): ParsedFlags => {
  const fromArguments = readArguments(argv);
  if (fromArguments.wantsHelp) return { help: helpText() };
  const fromEnvironment = readEnvironment(env, fromArguments.given);
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
    ...rules.filter(({ reads }) => !reads.some(({ name }) => unreadable.has(name))).map(({ problem }) => problem(read)),
  ].filter((error) => error !== undefined);
  return errors.length === 0 ? { options: providerOptions(read) } : { errors };
};
