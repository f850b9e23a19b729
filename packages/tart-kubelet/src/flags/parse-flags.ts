import { allFlags, flags } from './flag-table.ts';
import type { Flag } from './flag-types.ts';
import type { Labels } from './node-labels.ts';

/** What the agent was told to be. */
export interface AgentOptions {
  readonly nodeName: string;
  readonly kubeconfig: string;
  readonly providerID: string | undefined;
  readonly nodeIP: string | undefined;
  readonly nodeIPSource: 'auto' | 'tailscale';
  readonly nodeLabels: Labels;
  readonly hostCPU: number;
  readonly hostMemoryMB: number;
  readonly maxPods: number;
  readonly vmSlots: number;
  readonly disableVMGC: boolean;
  /** `undefined`: that of the agent. */
  readonly kubeletVersion: string | undefined;
  readonly port: number;
  readonly tartBinary: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
}

export type ReadFlag = <T>(flag: Flag<T>) => T;

export const agentOptions = (read: ReadFlag, hostname: string): AgentOptions => ({
  nodeName: read(flags.nodeName) ?? hostname,
  kubeconfig: read(flags.kubeconfig),
  providerID: read(flags.providerID),
  nodeIP: read(flags.nodeIP),
  nodeIPSource: read(flags.nodeIPSource),
  nodeLabels: read(flags.nodeLabels),
  hostCPU: read(flags.hostCPU),
  hostMemoryMB: read(flags.hostMemoryMB),
  maxPods: read(flags.maxPods),
  vmSlots: read(flags.vmSlots),
  disableVMGC: read(flags.disableVMGC),
  kubeletVersion: read(flags.kubeletVersion),
  port: read(flags.port),
  tartBinary: read(flags.tartBinary),
  logLevel: read(flags.logLevel),
});

const bigrams = (text: string): string[] => {
  // The end marks make a first and a last letter count as much as the others.
  const letters = `^${text.toLowerCase().replaceAll('_', '-').slice(0, 80)}$`;
  return Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2));
};

/** How alike two texts are by the pairs of letters that they share, from 0 to 1 (Dice). */
const similarity = (one: string, other: string): number => {
  const left = bigrams(one);
  const rest = bigrams(other);
  const total = left.length + rest.length;
  let shared = 0;
  for (const pair of left) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    rest.splice(at, 1);
    shared += 1;
  }
  return (2 * shared) / total;
};

/** The one that was most likely meant. */
export const nearestFlag = (given: string, names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => similarity(given, b) - similarity(given, a))[0];

const defaultText = ({ defaultValue }: Flag<unknown>): string =>
  typeof defaultValue === 'string' || typeof defaultValue === 'number' ? ` [${defaultValue}]` : '';

const helpRow = (flag: Flag<unknown>): string => {
  const value = flag.isSwitch ? '' : `=${flag.example}`;
  const variable = flag.env === undefined ? '' : ` Variable: ${flag.env}.`;
  return `  --${flag.name}${value}\n      ${flag.help}${variable}${defaultText(flag)}\n`;
};

export const helpText = (): string =>
  `tart-kubelet makes this Mac a Kubernetes Node whose Pods are macOS virtual machines.\n\nFlags, each with an example:\n${allFlags
    .map(helpRow)
    .join('')}  --version\n  --help\n`;

export type FlagsResult =
  | { readonly kind: 'run'; readonly options: AgentOptions }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** All of them at once: nobody mends a plist one restart at a time. */
  | { readonly kind: 'errors'; readonly errors: readonly string[] };

export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
}

interface RawValue {
  readonly source: string;
  readonly text: string;
}

const flagNames = allFlags.map(({ name }) => name);

/** Without its value, which may be a secret that somebody took for a flag. */
const unknownFlagError = (name: string): string =>
  `${JSON.stringify(`--${name.slice(0, 80)}`)}: there is no such flag; the nearest is --${nearestFlag(name, flagNames)}. ` +
  'Correct or delete it; if the host steps pass it, roll an agent of the same release.';

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What was given for each flag. Values are not looked at. As in Go, the last one counts. */
const readArguments = (words: readonly string[]): { given: Map<string, RawValue>; errors: string[] } => {
  const given = new Map<string, RawValue>();
  const errors: string[] = [];
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name, joined] = /^--?([^-=\s][^=\s]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = allFlags.find((each) => each.name === name);
    if (name === undefined) errors.push(`${quote(word)}: not a flag. Delete it, or write it as --flag=value.`);
    // Whatever follows an unknown flag may be its value, and is not judged.
    else if (flag === undefined) errors.push(unknownFlagError(name));
    // A value that looks like a flag must be joined, or a forgotten value would eat the next flag.
    const follows = joined === undefined && flag?.isSwitch !== true && rest[0]?.startsWith('-') === false;
    const text = joined ?? (follows ? rest.shift() : undefined) ?? (flag?.isSwitch === true ? 'true' : undefined);
    if (flag === undefined) continue;
    if (text === undefined) errors.push(`--${flag.name}: has no value. Write --${flag.name}=${flag.example}.`);
    else given.set(flag.name, { source: `--${flag.name}`, text });
  }
  return { given, errors };
};

const fromEnvironment = (flag: Flag<unknown>, env: Environment['env']): RawValue | undefined => {
  const text = flag.env === undefined ? undefined : env[flag.env];
  return text ? { source: `${flag.env} (instead of --${flag.name})`, text } : undefined;
};

/**
 * What the agent was told to be, by the arguments behind its script and by its environment. Pure and total.
 *
 * Flow: arguments, then variables for what they leave out, then what each flag has by itself.
 */
export const parseFlags = (args: readonly string[], { env, hostname }: Environment): FlagsResult => {
  if (args.some((word) => /^--?(help|h)$/.test(word))) return { kind: 'help', text: helpText() };
  if (args.some((word) => /^--?version$/.test(word))) return { kind: 'version' };
  const { given, errors } = readArguments(args);
  for (const flag of allFlags) {
    const text = given.get(flag.name) ?? fromEnvironment(flag, env);
    if (text === undefined) continue;
    given.set(flag.name, text);
    const parsed = flag.parse(text.text);
    if ('problem' in parsed)
      errors.push(`${text.source}: ${quote(text.text)} ${parsed.problem}. Write something like ${flag.example}.`);
  }
  const read: ReadFlag = (flag) => {
    const text = given.get(flag.name)?.text;
    const parsed = text === undefined ? undefined : flag.parse(text);
    return parsed !== undefined && 'value' in parsed ? parsed.value : flag.defaultValue;
  };
  // `mac-1.local` and `Mac-1` are names that macOS gives itself.
  const options = agentOptions(read, hostname.toLowerCase());
  const parsedName = flags.nodeName.parse(options.nodeName);
  if (!given.has(flags.nodeName.name) && 'problem' in parsedName)
    errors.push(`The name of this Mac, ${quote(hostname)}, ${parsedName.problem}. Tell --node-name.`);
  return errors.length === 0 ? { kind: 'run', options } : { kind: 'errors', errors };
};
