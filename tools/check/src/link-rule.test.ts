import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { anchorsOf, deadLinks, type Ground, linksOf } from './link-rule.ts';

const other = '# The other page\n\n## What to do\n\n## What to do\n\n## `tartan` up: *a* fleet, 2 Macs\n';
const files: Readonly<Record<string, string>> = {
  'docs/other.md': other,
  'README.md': '# Tartan\n',
  'docs/a b.md': '',
};
const folders = new Set(['docs', 'packages/kube/src']);
const ground: Ground = {
  exists: (path) => Object.hasOwn(files, path) || folders.has(path.replace(/\/$/, '')) || path === 'docs/page.md',
  textOf: (path) => files[path] ?? (path === 'docs/page.md' ? '# Page\n\n## Here\n' : undefined),
};

const judgements: [target: string, complaint: RegExp | undefined][] = [
  ['other.md', undefined],
  ['../README.md', undefined],
  ['/README.md', undefined],
  ['./', undefined],
  ['../packages/kube/src', undefined],
  ['a%20b.md', undefined],
  ['https://example.com/x.md#y', undefined],
  ['mailto:a@example.com', undefined],
  ['other.md#what-to-do', undefined],
  ['other.md#what-to-do-1', undefined],
  ['other.md#tartan-up-a-fleet-2-macs', undefined],
  ['#here', undefined],
  ['missing.md', /docs\/page\.md:3: missing\.md leads nowhere: there is no docs\/missing\.md/],
  ['../docs/../packages/host', /there is no packages\/host/],
  ['../../elsewhere.md', /leads out of the repository/],
  ['other.md#what-to-do-2', /docs\/other\.md has no heading #what-to-do-2/],
  ['#there', /docs\/page\.md has no heading #there/],
];

describe('a link in a page of ours', () => {
  for (const [target, complaint] of judgements) {
    test(`to ${target} ${complaint ? 'is dead' : 'leads somewhere'}`, () => {
      const dead = deadLinks({ path: 'docs/page.md', text: `# Page\n\nSee [it](${target}).\n` }, ground);
      assert.equal(dead.length, complaint ? 1 : 0, dead.join('\n'));
      if (complaint) assert.match(dead[0] ?? '', complaint);
    });
  }

  test('is none in code, and is one around code', () => {
    const text = '`[a](b)` [`c`](d) ![e](f "g") [h](<i>)\n```sh\n[j](k)\n```\n~~~\n```\n[l](m)\n~~~\n[n](o)\n';
    assert.deepEqual(
      linksOf(text).map(({ target, number }) => `${number} ${target}`),
      ['1 d', '1 f', '1 i', '9 o'],
    );
  });

  test('can name a heading, but no comment in a script', () => {
    assert.deepEqual([...anchorsOf('# One\n```sh\n# two\n```\n### [Three](x.md) & four\n')], ['one', 'three--four']);
  });
});

describe('every page of ours', () => {
  const root = join(import.meta.dirname, '../../..');
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })];
  const tree: Ground = {
    exists: (path) => existsSync(join(root, path)),
    textOf: (path) => readFileSync(join(root, path), 'utf8'),
  };

  test('leads somewhere with each of its links', () => {
    assert.ok(pages.length > 15, 'the pages were not found');
    const dead = pages.flatMap((path) => deadLinks({ path, text: readFileSync(join(root, path), 'utf8') }, tree));
    assert.deepEqual(dead, []);
  });

  test('names files and folders that exist', () => {
    const path = /`((?:packages|sim|tools|test|charts|image|docs)\/[\w./-]+)`/g;
    const missing = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(path)]
        .filter(([, named = '']) => !tree.exists(named))
        .map(([, named]) => `${page}: ${named}`),
    );
    assert.deepEqual(missing, []);
  });
});
