import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { incidentErrors, pageErrors } from './reference-rule.ts';

const row = (name: string, tests: string): string => `| ${name} | It broke. | tuist/tuist#1 | A guard. | ${tests} |\n`;
const shown = String.raw`${'`x/a.test.ts`'} › keeps a\|b (INC-01)`;
const files = [
  { path: 'x/a.test.ts', text: "test('keeps a|b (INC-01)', () => {});" },
  { path: 'docs/incidents.md', text: 'INC-09' },
];

const cases: [what: string, page: string, error: RegExp | undefined][] = [
  ['a row that is mentioned and has its test', row('INC-01', shown), undefined],
  ['an id without a row', '', /^x\/a\.test\.ts: INC-01 has no row/],
  ['a row that nothing mentions', row('INC-01', shown) + row('INC-09', shown), /nothing mentions INC-09/],
  ['two rows with one id', row('INC-01', shown).repeat(2), /INC-01 has two rows/],
  [
    'a test that does not exist',
    row('INC-01', `${shown}<br>\`x/a.test.ts\` › is gone`),
    /INC-01: there is no test `x\/a\.test\.ts` › is gone/,
  ],
  ['a file that does not exist', row('INC-01', '`x/b.test.ts` › keeps'), /there is no test `x\/b\.test\.ts`/],
  ['a row without a test', row('INC-01', 'none'), /there is no test none/],
];

describe('the page of incidents', () => {
  for (const [what, page, error] of cases) {
    test(`${what} is ${error === undefined ? 'accepted' : 'an error'}`, () => {
      const errors = incidentErrors(page, files);
      assert.equal(errors.length, error === undefined ? 0 : 1, errors.join('\n'));
      if (error !== undefined) assert.match(errors[0] ?? '', error);
    });
  }

  test('an ID of an older form is an error', () => {
    const older = [{ path: 'x/a.sh', text: '# As before (I-23, G-07).' }];
    assert.match(incidentErrors('', older).join('\n'), /x\/a\.sh: I-23 has no row.*\n.*x\/a\.sh: G-07 has no row/);
  });
});

describe('a referenced page', () => {
  test('is an error when it does not exist in the repository', () => {
    const text = '/** See incidents.md, docs/incidents.md and design-notes.md. */';
    assert.deepEqual(pageErrors([...files, { path: 'x/a.ts', text }]), [
      'x/a.ts: there is no page design-notes.md: say it in words, or cite a public source',
    ]);
  });
});
