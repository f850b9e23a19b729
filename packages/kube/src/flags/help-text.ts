import type { Flag, FlagTable } from './flag.ts';

const columns = 100;
const indent = ' '.repeat(6);

const wrapped = (text: string): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => `${indent}${each}`);
};

const linesOf = ({ name, placeholder, isSwitch, defaultText, env, help }: Flag<unknown>): string[] => {
  const facts = [
    ...(defaultText === '' ? [] : [`default ${defaultText}`]),
    ...(env === undefined ? [] : [`environment ${env}`]),
  ];
  const head = `  --${name}${isSwitch ? '' : ` <${placeholder}>`}`;
  return [facts.length === 0 ? head : `${head}  (${facts.join('; ')})`, ...wrapped(help)];
};

export interface HelpText {
  /** A sentence. */
  readonly about: string;
  /** The name of the program. */
  readonly program: string;
  readonly table: Pick<FlagTable, 'groups'>;
  /** Environment variables without a flag. */
  readonly variables?: { readonly title: string; readonly rows: readonly { name: string; help: string }[] };
}

/** The text of `--help`. */
export const helpText = ({ about, program, table, variables }: HelpText): string =>
  [
    about,
    '',
    `Usage: ${program} [--flag=value | --flag value]…`,
    '',
    'Durations are written as in Go: 90s, 15m, 1h30m. A flag wins over its environment variable; of a flag that',
    'is given twice, the last one counts. A switch is on when it stands alone, and off with =false.',
    '--help prints this, and --version the version.',
    ...table.groups.flatMap(({ title, flags }) => ['', `${title}:`, ...flags.flatMap(linesOf)]),
    ...(variables === undefined
      ? []
      : ['', `${variables.title}:`, ...variables.rows.flatMap(({ name, help }) => [`  ${name}`, ...wrapped(help)])]),
    '',
  ].join('\n');
