import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flag, type FlagTable } from './flag.ts';
import { helpText } from './help-text.ts';
import { parseFlagTable } from './parse-flags.ts';
import { bool, integer, oneOf } from './value-types.ts';

const level = flag('log-level', { type: oneOf(['debug', 'info']), default: 'info', env: 'LEVEL', help: 'How loud.' });
const most = flag('most', { type: integer({ from: 1, to: 9 }), default: 3, help: 'How many at most.' });
const least = flag('least', { type: integer({ from: 1, to: 9 }), default: 1, help: 'How many at least.' });
const quick = flag('quick', { type: bool, default: false, help: 'Whether it is in a hurry.' });

const table: FlagTable = {
  groups: [
    { title: 'Logs', flags: [level] },
    { title: 'Work', flags: [least, most, quick] },
  ],
  rules: [
    {
      description: 'The least is not above the most.',
      reads: [least, most],
      problem: (read) => (read(least) > read(most) ? '--least is above --most. Lower it.' : undefined),
    },
  ],
  removed: [{ name: 'old', env: 'OLD', reason: 'nobody needs it' }],
};

const valuesOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): unknown[] => {
  const parsed = parseFlagTable(table, argv, env);
  assert.ok('read' in parsed, JSON.stringify(parsed));
  return [parsed.read(level), parsed.read(least), parsed.read(most), parsed.read(quick)];
};
const errorsOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] => {
  const parsed = parseFlagTable(table, argv, env);
  return 'errors' in parsed ? parsed.errors : [];
};

describe('parseFlags', () => {
  test('the command line wins over variables, variables over defaults', () => {
    assert.deepEqual(valuesOf([]), ['info', 1, 3, false]);
    assert.deepEqual(valuesOf(['--most', '5', '-least=2', '--quick'], { LEVEL: 'debug' }), ['debug', 2, 5, true]);
    assert.deepEqual(valuesOf(['--log-level=info', '--most=1', '--most=2'], { LEVEL: 'debug' }), ['info', 1, 2, false]);
    assert.deepEqual(valuesOf([], { LEVEL: '' }), ['info', 1, 3, false]);
  });

  test('reports all errors at once: unknown, removed and invalid flags, and violated rules', () => {
    const errors = errorsOf(['--mots=secret', '--old=x', '--least=4', '--quick=perhaps', 'stray'], { OLD: 'x' });
    assert.deepEqual(
      errors.map((error) => error.slice(0, 24)),
      [
        '--mots: there is no such',
        '--old: removed: nobody n',
        '"stray": not a flag. Del',
        'OLD: removed: nobody nee',
        '--quick: "perhaps" is ne',
        '--least is above --most.',
      ],
    );
    assert.match(errors[0] ?? '', /the nearest is --most/);
    assert.doesNotMatch(errors.join(), /secret/);
  });

  test('a rule is skipped if one of its flags is invalid', () => {
    assert.equal(errorsOf(['--least=9', '--most=many']).length, 1);
  });

  test('--help wins over errors', () => {
    assert.deepEqual(parseFlagTable(table, ['--mots', '-h'], { OLD: 'x' }), { wantsHelp: true });
  });

  test('the help has every flag below its group, with default and variable', () => {
    const variables = { title: 'Variables', rows: [{ name: 'TOKEN', help: 'A secret.' }] };
    assert.deepEqual(helpText({ about: 'It works.', program: 'it', table, variables }).split('\n').slice(7), [
      '',
      'Logs:',
      '  --log-level <debug|info>  (default info; environment LEVEL)',
      '      How loud.',
      '',
      'Work:',
      '  --least <number>  (default 1)',
      '      How many at least.',
      '  --most <number>  (default 3)',
      '      How many at most.',
      '  --quick  (default false)',
      '      Whether it is in a hurry.',
      '',
      'Variables:',
      '  TOKEN',
      '      A secret.',
      '',
    ]);
  });
});
