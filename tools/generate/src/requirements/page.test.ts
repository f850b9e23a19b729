import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requirementsPage } from './page.ts';
import { requirements } from './requirements.ts';
import { repositoryFile } from './testing/repository-file.ts';

describe('the page about requirements', () => {
  const files: Record<string, string> = { 'x/a.test.ts': `describe('a Mac', () => {\n  it('has a|b [c]', f);\n});\n` };
  const shown = { file: 'x/a.test.ts', title: 'has a|b [c]' };
  const base = { title: 'It goes.', changes: [11065] as const };
  const page = requirementsPage(
    {
      chapters: [
        {
          letter: 'A',
          title: 'first',
          rows: [{ ...base, id: 'A1', tests: [shown] }],
        },
      ],
      sizes: { A: 1 },
    },
    (path) => files[path],
  );

  test('links each row to its tests, by the blocks around them', () => {
    const link = '[a Mac › has a\\|b \\[c\\]](../x/a.test.ts)';
    const line = `| A1 | It goes. | #11065 | ${link} |`;
    assert.ok(page.split('\n').includes(line), `${line}\n\n${page}`);
  });

  test('docs/requirements.md equals the rows (npm run generate)', () =>
    assert.equal(repositoryFile('docs/requirements.md'), requirementsPage(requirements, repositoryFile)));
});
