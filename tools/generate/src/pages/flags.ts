import type { Flag, FlagGroup, FlagRule } from '@tartan/kube/flags';
import { code, row, table } from './markdown.ts';

/** Shared parts of the pages about flags, from the tables that the programs parse them with. */

/** Flags inside a sentence are set as code. */
export const prose = (text: string): string => text.replaceAll(/(?<!`)--[a-z]+(?:-[a-z]+)*/g, (name) => code(name));

const flagRow = ({ name, placeholder, isSwitch, defaultText, env, help }: Flag<unknown>): string =>
  row(code(isSwitch ? `--${name}` : `--${name}=<${placeholder}>`), code(defaultText), code(env), prose(help));

export const groupLines = (groups: readonly FlagGroup[]): string[] =>
  groups.flatMap(({ title, flags }) => [
    '',
    `## ${title}`,
    '',
    ...table(['flag', 'default', 'environment', ''], flags.map(flagRow)),
  ]);

export const ruleLines = (rules: readonly FlagRule[]): string[] => [
  '## Rules between flags',
  '',
  ...rules.map(({ description }) => `- ${prose(description)}`),
];

/** How a program parses its flags. */
export const parsingRules = (program: string): string[] => [
  '- `--flag=value` and `--flag value` are equivalent. A switch without a value is on; `=false` turns it off.',
  '- A flag overrides its environment variable. If a flag is given twice, the last one counts.',
  '- Durations have the format of Go: `90s`, `15m`, `1h30m`.',
  `- With invalid flags the ${program} prints every error and exits. An unknown flag is an error that names the closest known flag.`,
  '  Use the chart and the image of the same release.',
];
