import type { Flag, FlagGroup, FlagRule } from '@tartan/kube/flags';

/** What pages about flags have in common, from the tables that programs parse them with. */

export const code = (text: string | undefined): string => (text ? `\`${text.replaceAll('|', '\\|')}\`` : '');

/** Angle brackets would be HTML. Flags and variables inside a sentence are set as code. */
export const prose = (text: string): string => text.replaceAll(/(?<!`)--[a-z]+(?:-[a-z]+)*/g, (name) => code(name));

const flagRow = ({ name, placeholder, isSwitch, defaultText, env, help }: Flag<unknown>): string =>
  `| ${code(isSwitch ? `--${name}` : `--${name}=<${placeholder}>`)} | ${code(defaultText)} | ${code(env)} | ${prose(help)} |`;

export const groupLines = (groups: readonly FlagGroup[]): string[] =>
  groups.flatMap(({ title, flags }) => [
    '',
    `## ${title}`,
    '',
    '| flag | default | environment | |',
    '|---|---|---|---|',
    ...flags.map(flagRow),
  ]);

export const ruleLines = (rules: readonly FlagRule[]): string[] => [
  '## What must hold between flags',
  '',
  ...rules.map(({ description }) => `- ${prose(description)}`),
];

/** How a program reads them. */
export const reading = (program: string): string[] => [
  '- `--flag=value` and `--flag value` mean the same. A switch is on when it stands alone, and off with `=false`.',
  '- A flag wins over its environment variable. Of a flag that is given twice, the last one counts.',
  '- Durations are written as in Go: `90s`, `15m`, `1h30m`.',
  `- Everything that is wrong is said at once, and the ${program} does not start. A flag that is not known is an error that names the nearest:`,
  '  use the chart and the image of the same release.',
];
