import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mutate } from './mutate.ts';
import { testsOf } from './tests-of.ts';

const decide = `export type Decision = 'keep' | 'delete';
export const decide = (age: number): Decision => (age > 10 ? 'delete' : 'keep');
`;
const files: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'decide.ts': decide,
  'decide.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from './decide.ts';
test('what is old goes', () => assert.deepEqual([decide(9), decide(99)], ['keep', 'delete']));
`,
  'act.ts': `import { type Decision, decide } from './decide.ts';
export const act = (age: number): Decision => decide(age);
`,
  'act.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { act } from './act.ts';
test('it acts', () => assert.equal(act(0), 'keep'));
`,
  'types.test.ts': `import type { Decision } from './decide.ts';
export const other: Decision = 'keep';
`,
};

describe('a mutated file', () => {
  let folder: string;
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-mutated-')));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('has the tests that import it, nearest first', () => {
    assert.deepEqual(testsOf(join(folder, 'decide.ts')), [
      [join(folder, 'decide.test.ts')],
      [join(folder, 'act.test.ts')],
    ]);
  });

  test('has killed mutants and a survivor, and is not changed on disk', async () => {
    const file = join(folder, 'decide.ts');
    const { mutants, survivors } = await mutate(file, { folder, jobs: 2, limitFor: () => undefined });
    // The boundary, the negation, two literals, and the returned value.
    assert.equal(mutants, 5);
    assert.deepEqual(
      survivors.map(({ line, original, mutated }) => [line, original, mutated]),
      [[2, 'age > 10', 'age >= 10']],
    );
    assert.equal(readFileSync(file, 'utf8'), decide);
  });

  test('has no score when its tests fail without a mutant', async () => {
    const broken = join(folder, 'broken.ts');
    writeFileSync(broken, 'export const yes = true;\n');
    writeFileSync(
      join(folder, 'broken.test.ts'),
      "import { test } from 'node:test';\nimport './broken.ts';\ntest('no', () => Promise.reject(new Error('no')));\n",
    );
    await assert.rejects(mutate(broken, { folder, jobs: 1 }), /fail without a mutant.*broken\.test\.ts/);
  });
});
