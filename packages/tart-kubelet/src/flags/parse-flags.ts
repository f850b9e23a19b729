import { type AgentOptions, agentOptions, type Read } from './agent-options.ts';
import type { Flag } from './flag.ts';
import { everyFlag, flags } from './flag-table.ts';
import { helpText } from './help-text.ts';
import { nearest } from './nearest.ts';

export type Asked =
  | { readonly kind: 'run'; readonly options: AgentOptions }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** All of them at once: nobody mends a plist one restart at a time. */
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
}

interface Given {
  readonly source: string;
  readonly text: string;
}

const names = everyFlag.map(({ name }) => name);

/** Without its value, which may be a secret that somebody took for a flag. */
const unknown = (name: string): string =>
  `${JSON.stringify(`--${name.slice(0, 80)}`)}: there is no such flag; the nearest is --${nearest(name, names)}. ` +
  'Correct or delete it; if the host steps pass it, roll an agent of the same release.';

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What was given for each flag. Values are not looked at. As in Go, the last one counts. */
const givenIn = (words: readonly string[]): { given: Map<string, Given>; errors: string[] } => {
  const given = new Map<string, Given>();
  const errors: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, joined] = /^--?([^-=\s][^=\s]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = everyFlag.find((each) => each.name === name);
    if (name === undefined) errors.push(`${quoted(word)}: not a flag. Delete it, or write it as --flag=value.`);
    // Whatever follows an unknown flag may be its value, and is not judged.
    else if (flag === undefined) errors.push(unknown(name));
    // A value that looks like a flag must be joined, or a forgotten value would eat the next flag.
    const follows = joined === undefined && flag?.isSwitch !== true && rest[0]?.startsWith('-') === false;
    const text = joined ?? (follows ? rest.shift() : undefined) ?? (flag?.isSwitch === true ? 'true' : undefined);
    if (flag === undefined) continue;
    if (text === undefined) errors.push(`--${flag.name}: has no value. Write --${flag.name}=${flag.example}.`);
    else given.set(flag.name, { source: `--${flag.name}`, text });
  }
  return { given, errors };
};

const fromEnvironment = (flag: Flag<unknown>, env: Surroundings['env']): Given | undefined => {
  const text = flag.env === undefined ? undefined : env[flag.env];
  return text ? { source: `${flag.env} (instead of --${flag.name})`, text } : undefined;
};

/**
 * What the agent was told to be, by the arguments behind its script and by its environment. Pure and total.
 *
 * Flow: arguments, then variables for what they leave out, then what each flag has by itself.
 */
export const parseFlags = (words: readonly string[], { env, hostname }: Surroundings): Asked => {
  if (words.some((word) => /^--?(help|h)$/.test(word))) return { kind: 'help', text: helpText() };
  if (words.some((word) => /^--?version$/.test(word))) return { kind: 'version' };
  const { given, errors } = givenIn(words);
  for (const flag of everyFlag) {
    const text = given.get(flag.name) ?? fromEnvironment(flag, env);
    if (text === undefined) continue;
    given.set(flag.name, text);
    const parsed = flag.parse(text.text);
    if ('problem' in parsed)
      errors.push(`${text.source}: ${quoted(text.text)} ${parsed.problem}. Write something like ${flag.example}.`);
  }
  const read: Read = (flag) => {
    const text = given.get(flag.name)?.text;
    const parsed = text === undefined ? undefined : flag.parse(text);
    return parsed !== undefined && 'value' in parsed ? parsed.value : flag.initial;
  };
  // `mac-1.local` and `Mac-1` are names that macOS gives itself.
  const options = agentOptions(read, hostname.toLowerCase());
  const named = flags.nodeName.parse(options.nodeName);
  if (!given.has(flags.nodeName.name) && 'problem' in named)
    errors.push(`The name of this Mac, ${quoted(hostname)}, ${named.problem}. Tell --node-name.`);
  return errors.length === 0 ? { kind: 'run', options } : { kind: 'errors', errors };
};
