import { flagGroups, flagRules } from '@tartan/runners/flags';
import { groupLines, parsingRules, ruleLines } from './flags.ts';
import { generated } from './markdown.ts';

/** The page about the flags of the runners controller, from the table that it parses them with. */
export const runnersFlagsPage = (): string =>
  [
    generated,
    '',
    '# Flags of the runners controller',
    '',
    '`--help` prints the same tables. No flag holds a secret: GitHub credentials are in Secrets in the namespace of the pools.',
    '',
    ...parsingRules('controller'),
    ...groupLines(flagGroups),
    '',
    ...ruleLines(flagRules),
    '',
  ].join('\n');
