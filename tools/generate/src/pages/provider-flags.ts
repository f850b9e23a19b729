import { credentialVariables, flagGroups, flagRules, removedFlags } from '@tartan/provider/flags';
import { groupLines, parsingRules, prose, ruleLines } from './flags.ts';
import { code, codes, generated, row, table } from './markdown.ts';

/** The page about the manager's flags, from the table that the manager parses them with. */

/** One row for each reason. */
const removedRows = (): string[] =>
  [...Map.groupBy(removedFlags, ({ reason }) => reason)].map(([reason, rows]) =>
    row(codes(rows.map(({ name }) => `--${name}`)), prose(reason)),
  );

export const providerFlagsPage = (): string =>
  [
    generated,
    '',
    '# Flags of the provider',
    '',
    '`--help` prints the same tables.',
    '',
    ...parsingRules('manager'),
    ...groupLines(flagGroups),
    '',
    '## Credentials',
    '',
    'Only from the environment: everyone who can list processes or read a Pod sees its arguments.',
    '',
    ...table(
      ['variable', ''],
      credentialVariables.map(({ name, help }) => row(code(name), help)),
    ),
    '',
    ...ruleLines(flagRules),
    '',
    '## Removed flags of the original system',
    '',
    'Each is an error that names the reason, also if only its environment variable is set.',
    '',
    ...table(['flag', 'reason'], removedRows()),
    '',
  ].join('\n');
