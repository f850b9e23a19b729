import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { mayImport } from './layer-rule.ts';

const root = join(import.meta.dirname, '../../..');

/** Rows of the table of folders: `packages/kube`, or a link of that name; its content; its allowed imports. */
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const rows = page.split('\n').flatMap((line) => {
  const [, folder, what = '', imports = ''] =
    /^\| \[?`((?:packages|sim|tools|test|bench)[^`]*)`.*? \| (.*?) \| (.*) \|$/.exec(line) ?? [];
  return folder === undefined ? [] : [{ folder, what, imports }];
});
const folders = rows.map(({ folder }) => folder);

/** Of the root's own workspace. */
const isTier = (folder: string): boolean => folder === 'test' || folder === 'bench';

const isListed = (imports: string, folder: string): boolean =>
  imports.includes(`\`${folder}\``) || imports.includes(`\`${dirname(folder)}/*\``);

describe('docs/architecture.md', () => {
  test('lists every workspace once', () => {
    const workspaces = globSync('{packages,sim,tools}/*/package.json', { cwd: root }).map((file) => dirname(file));
    assert.ok(workspaces.length > 10);
    assert.deepEqual(
      [...workspaces, 'test', 'bench'].filter((folder) => !folders.includes(folder)),
      [],
    );
    assert.equal(new Set(folders).size, folders.length);
  });

  test('marks exactly the folders that do not exist yet', () => {
    for (const { folder, what } of rows)
      assert.equal(
        what.includes('not built yet'),
        !existsSync(join(root, folder, 'package.json')) && !isTier(folder),
        folder,
      );
  });

  test('lists the allowed imports of each folder as in the rule', () => {
    for (const { folder, imports } of rows)
      for (const other of folders.filter((each) => each !== folder))
        assert.equal(isListed(imports, other), mayImport(folder, other), `whether ${folder} may import ${other}`);
  });

  test('each walkthrough has at most ten files', () => {
    const walks = page.split(/^## /m).filter((part) => part.startsWith('Walk '));
    assert.equal(walks.length, 5);
    for (const walk of walks) {
      const files = new Set([...walk.matchAll(/\]\(\.\.\/([^)]+\.\w+)\)/g)].map(([, file]) => file));
      assert.ok(files.size > 4 && files.size <= 10, `${walk.split('\n', 1)[0]}: ${files.size}`);
    }
  });
});
