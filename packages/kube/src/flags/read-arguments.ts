import type { Flag } from './flag.ts';
import type { FlagTable } from './flag-table.ts';
import { nearestTo } from './nearest-flag.ts';
import { shown } from './types/flag-type.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A text for a flag, and where it stood: `--name`, or the name of a variable. */
export interface Given {
  readonly flag: Flag<unknown>;
  readonly text: string;
  readonly source: string;
}

export interface Arguments {
  /** In the order of their appearance. As in Go, the last one of a flag counts. */
  readonly given: readonly Given[];
  readonly wantsHelp: boolean;
  readonly problems: readonly string[];
}

/** One that could not be any flag's is quoted, lest it breaks the line. */
const shownName = (name: string): string => (/^[\w.-]{1,80}$/.test(name) ? `--${name}` : shown(`--${name}`));

/** Only the name is shown, and never the value: it may be a secret that somebody took for a flag. */
const aboutUnknown = (name: string, known: readonly string[], { removed = [] }: FlagTable): string => {
  const gone = removed.find((flag) => flag.name === name);
  if (gone !== undefined) return `--${name}: removed: ${gone.because}. Delete it from the arguments.`;
  return (
    `${shownName(name)}: there is no such flag; the nearest is --${nearestTo(name, known)}. ` +
    'Correct or delete it. If the chart passes it, use the chart and the image of the same release.'
  );
};

/** `--name`, `--name=value`, and with one dash, as Go takes them. */
const flagSyntax = /^--?([^-=][^=]*)(?:=(.*))?$/s;

/** The arguments after the program's name, taken apart. Total; values are not looked at. */
export const readArguments = (table: FlagTable, argv: readonly string[]): Arguments => {
  const known = new Map(table.groups.flatMap(({ flags }) => flags.map((flag) => [flag.name, flag] as const)));
  const given: Given[] = [];
  const problems: string[] = [];
  let wantsHelp = false;
  const rest = [...argv];
  /** The next argument, if it can be a value. One that looks like a flag has to be joined with `=`, lest a forgotten value eats a flag. */
  const nextValue = (): string | undefined => (rest[0]?.startsWith('-') === false ? rest.shift() : undefined);

  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, name, joined] = flagSyntax.exec(argument) ?? [];
    if (name === undefined) {
      problems.push(`${shown(argument)}: not a flag. Delete it, or join it to its flag: --flag=value.`);
      continue;
    }
    if (name === 'help' || name === 'h') {
      wantsHelp = true;
      continue;
    }
    const flag = known.get(name);
    if (flag === undefined) {
      problems.push(aboutUnknown(name, [...known.keys()], table));
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

/** What the environment says for flags that were not given. An empty variable is one that is not set. */
export const readEnvironment = (
  { groups, removed = [] }: FlagTable,
  env: Environment,
  given: readonly Given[],
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
      .map(({ env: variable, because }) => `${variable}: removed: ${because}. Delete it from the environment.`),
  };
};
