import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { titlesIn } from './titles.ts';

const table: [what: string, source: string, titles: string[]][] = [
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
  ['not a call of something else', `latest('a', f);\nstage.it('b', f);\nconst text = "test('c', f)";`, []],
];

describe('the titles in a test file', () => {
  for (const [what, source, titles] of table) {
    test(what, () =>
      assert.deepEqual(
        titlesIn(source).map((path) => path.join(' › ')),
        titles,
      ),
    );
  }
});
