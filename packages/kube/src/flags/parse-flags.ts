import { type Flag, type FlagTable, quote, type ReadFlag } from './flag.ts';
import { nearestName } from './nearest-name.ts';

type ParsedFlags =
  /** All constraints hold. */
  | { readonly read: ReadFlag }
  | { readonly wantsHelp: true }
  /** All errors at once, so that a chart needs one fix, not one restart per error. */
  | { readonly errors: readonly string[] };

const problemOf = ({ flag, text, source }: GivenFlag): string | undefined => {
  const parsed = flag.parse(text);
  return 'problem' in parsed
    ? `${source}: ${quote(text)} ${parsed.problem}. Write something like ${flag.examples.join(' or ')}.`
    : undefined;
};

/**
 * Values of all flags, from the arguments (without the program's name) and the environment. Pure and total.
 *
 * Flow: command line, then environment variables, then defaults; then the constraints between flags.
 * Guarantees: errors contain neither the value of an unknown flag nor a variable that is not in the table.
 */
export const parseFlagTable = (table: FlagTable, argv: readonly string[], env: Environment): ParsedFlags => {
  const fromArguments = parseArguments(table, argv);
  if (fromArguments.wantsHelp) return { wantsHelp: true };
  const fromEnvironment = readEnvironment(table, env, fromArguments.given);
  const given = [...fromArguments.given, ...fromEnvironment.given];
  const texts = new Map(given.map(({ flag, text }) => [flag.name, text]));

  const read: ReadFlag = (flag) => {
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

export type Environment = Readonly<Record<string, string | undefined>>;

/** The text given for a flag, and its source: `--name`, or the variable's name. */
interface GivenFlag {
  readonly flag: Flag<unknown>;
  readonly text: string;
  readonly source: string;
}

interface Arguments {
  /** In order. As in Go, the last value of a flag wins. */
  readonly given: readonly GivenFlag[];
  readonly wantsHelp: boolean;
  readonly problems: readonly string[];
}

/** Quoted if it cannot be a flag name, so that it does not break the line. */
const quoteName = (name: string): string => (/^[\w.-]{1,80}$/.test(name) ? `--${name}` : quote(`--${name}`));

/** Shows only the name: the value may be a secret. */
const unknownFlagMessage = (name: string, known: readonly string[], { removed = [] }: FlagTable): string => {
  const gone = removed.find((flag) => flag.name === name);
  if (gone !== undefined) return `--${name}: removed: ${gone.reason}. Delete it from the arguments.`;
  return (
    `${quoteName(name)}: there is no such flag; the nearest is --${nearestName(name, known)}. ` +
    'Correct or delete it. If it is a flag of another release, use the chart, the image and the agent of one release.'
  );
};

/** `--name`, `--name=value`, or with one dash, as in Go. */
const flagSyntax = /^--?([^-=][^=]*)(?:=(.*))?$/s;

/** Splits the arguments. Total; does not parse values. */
const parseArguments = (table: FlagTable, argv: readonly string[]): Arguments => {
  const known = new Map(table.groups.flatMap(({ flags }) => flags.map((flag) => [flag.name, flag] as const)));
  const given: GivenFlag[] = [];
  const problems: string[] = [];
  let wantsHelp = false;
  const rest = [...argv];
  /** The next argument, unless it looks like a flag: such a value needs `=`, so that a forgotten value does not swallow a flag. */
  const nextValue = (): string | undefined => (rest[0]?.startsWith('-') === false ? rest.shift() : undefined);

  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, name, joined] = flagSyntax.exec(argument) ?? [];
    if (name === undefined) {
      problems.push(`${quote(argument)}: not a flag. Delete it, or join it to its flag: --flag=value.`);
      continue;
    }
    if (name === 'help' || name === 'h') {
      wantsHelp = true;
      continue;
    }
    const flag = known.get(name);
    if (flag === undefined) {
      problems.push(unknownFlagMessage(name, [...known.keys()], table));
      if (joined === undefined) nextValue();
      continue;
    }
    const text = joined ?? (flag.isSwitch ? 'true' : nextValue());
    if (text === undefined) {
      problems.push(
        `--${name}: has no value. Write --${name}=<${flag.placeholder}>, such as --${name}=${flag.examples[0]}.`,
      );
    } else {
      given.push({ flag, text, source: `--${name}` });
    }
  }
  return { given, wantsHelp, problems };
};

/** Variables for flags that were not given. An empty variable counts as unset. */
const readEnvironment = (
  { groups, removed = [] }: FlagTable,
  env: Environment,
  given: readonly GivenFlag[],
): Pick<Arguments, 'given' | 'problems'> => {
  const onCommandLine = new Set(given.map(({ flag }) => flag.name));
  const set = (name: string | undefined): string | undefined =>
    name === undefined || env[name] === '' ? undefined : env[name];
  return {
    given: groups
      .flatMap(({ flags }) => flags)
      .flatMap((flag) => {
        const text = set(flag.env);
        return text === undefined || onCommandLine.has(flag.name)
          ? []
          : [{ flag, text, source: `${flag.env} (instead of --${flag.name})` }];
      }),
    problems: removed
      .filter(({ env: variable }) => set(variable) !== undefined)
      .map(({ env: variable, reason }) => `${variable}: removed: ${reason}. Delete it from the environment.`),
  };
};
