import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requirementErrors, titlesIn } from './check.ts';
import { type ReadFile, type Requirements, requirements, type Row, type TestReference } from './requirements.ts';
import { repositoryFile } from './testing/repository-file.ts';

const titleTable: [what: string, source: string, titles: string[]][] = [
  ['a test', `test('a', () => {});`, ['a']],
  ['in any quotes', `test("it's", f);\nit(\`so\`, f);\ntest('it\\'s not', f);`, ["it's", 'so', "it's not"]],
  ['on the line below', `test(\n  'a',\n  async () => {},\n);`, ['a']],
  [
    'below its block',
    `describe('a', () => {\n  it('b', f);\n  it('c', f);\n});\ntest('d', f);`,
    ['a', 'a › b', 'a › c', 'd'],
  ],
  [
    'two blocks deep',
    `describe('a', () => {\n  describe('b', () => {\n    it('c', f);\n  });\n});`,
    ['a', 'a › b', 'a › b › c'],
  ],
  ['in a loop', `describe('a', () => {\n  for (const b of c) {\n    test('d', f);\n  }\n});`, ['a', 'a › d']],
  ['with options', `test('a', { timeout: 1 }, f);\ntest('b', { skip: noLsof }, f);`, ['a', 'b']],
  ['not one that is made up as tests run', "test(`a ${b}`, f);\ntest(name, f);\ntest('a' + b, f);", []],
  ['not one that is commented out', `// test('a', f);\n/*\ntest('b', f);\n*/\n/** test('c', f); */`, []],
  [
    'not one that is skipped',
    `test.skip('a', f);\nit.todo('b');\ntest('c', { skip: true }, f);\nit('d', {\n  todo: true,\n}, f);`,
    [],
  ],
  ['not a call of something else', `latest('a', f);\nsuite.it('b', f);\nconst text = "test('c', f)";`, []],
];

describe('the titles in a test file', () => {
  for (const [what, source, titles] of titleTable) {
    test(what, () =>
      assert.deepEqual(
        titlesIn(source).map((path) => path.join(' › ')),
        titles,
      ),
    );
  }
});

const files: Record<string, string> = {
  'a.test.ts': `describe('a', () => {\n  test('goes', f);\n  test('stays', f);\n});\n`,
  'b.test.ts': `test('twice', f);\ntest('twice', f);\ntest(\`made of \${parts}\`, f);\ntest.skip('sleeps', f);\n`,
};
const read: ReadFile = (path) => files[path];

const goes: TestReference = { file: 'a.test.ts', title: 'goes' };
const row = (id: string, more: Partial<Row> = {}): Row => ({
  id,
  title: 'It goes.',
  changes: [11065],
  tests: [goes],
  ...more,
});
const [a1, a2] = [row('A1'), row('A2', { tests: [{ file: 'a.test.ts', title: 'a' }] })];
const [b1, b2] = [row('B1'), row('B2')];

interface Given {
  readonly a?: readonly Row[];
  readonly b?: readonly Row[];
}
const given = ({ a = [a1, a2], b = [b1, b2] }: Given): Requirements => ({
  chapters: [
    { letter: 'A', title: 'first', rows: a },
    { letter: 'B', title: 'second', rows: b },
  ],
  sizes: { A: 2, B: 2 },
});
const shownBy = (test: Partial<TestReference>): Given => ({ a: [row('A1', { tests: [{ ...goes, ...test }] }), a2] });

const table: [what: string, broken: Given, errors: string[]][] = [
  [
    'a row without a test',
    { a: [row('A1', { tests: [] }), a2] },
    ['A1 has no test: list one that fails without the behaviour.'],
  ],
  [
    'a file that is gone',
    shownBy({ file: 'gone.test.ts' }),
    ['A1: there is no gone.test.ts: name the file in which the test stands now.'],
  ],
  [
    'a title that is not there',
    shownBy({ title: 'goes on' }),
    ['A1: no test of a.test.ts has the title "goes on": copy it from there, or name the describe around it.'],
  ],
  [
    'a title that a table makes',
    shownBy({ file: 'b.test.ts', title: 'made of parts' }),
    ['A1: no test of b.test.ts has the title "made of parts": copy it from there, or name the describe around it.'],
  ],
  [
    'a test that is skipped',
    shownBy({ file: 'b.test.ts', title: 'sleeps' }),
    ['A1: no test of b.test.ts has the title "sleeps": copy it from there, or name the describe around it.'],
  ],
  [
    'a title that means two tests',
    shownBy({ file: 'b.test.ts', title: 'twice' }),
    ['A1: "twice" stands in b.test.ts 2 times: give the one that is meant a title of its own.'],
  ],
  [
    'a test that is named twice',
    { a: [row('A1', { tests: [goes, goes] }), a2] },
    ['A1 names "goes" in a.test.ts twice: once is enough.'],
  ],
  ['an id twice', { a: [a1, a2, a1] }, ['A1 is there twice: give one of them its own number, or take it out.']],
  ['the first id left out', { a: [a2] }, ['A1 is missing: put it back.']],
  ['the last id left out', { a: [a1] }, ['A2 is missing: put it back.']],
  [
    'an id too many',
    { a: [a1, a2, row('A3')] },
    ['A3 is no number of the sequence: give it the next one of its chapter, and count it in "sizes".'],
  ],
  [
    'a row in another chapter',
    { a: [a1], b: [b1, b2, a2] },
    ['A2 stands in the chapter of other letters: move it to its own.'],
  ],
];

describe('the table of requirements', () => {
  test('is valid when every row has a test', () => assert.deepEqual(requirementErrors(given({}), read), []));

  for (const [what, broken, errors] of table) {
    test(`has an error: ${what}`, () => assert.deepEqual(requirementErrors(given(broken), read), errors));
  }

  test('of this repository is valid', () => assert.deepEqual(requirementErrors(requirements, repositoryFile), []));
});
