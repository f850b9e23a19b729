import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';

/** A page of ours, by its path from the root. */
interface Page {
  readonly path: string;
  readonly text: string;
}

/** The possible targets of links. */
interface Repository {
  /** Whether a file or folder exists, by its path from the root. */
  exists(path: string): boolean;
  /** The text of a page; undefined for anything else. */
  textOf(path: string): string | undefined;
}

/** Lines of a page outside of code blocks, which have no links or headings. */
const proseOf = (text: string): readonly { readonly line: string; readonly number: number }[] => {
  let fence: string | undefined;
  return text.split('\n').flatMap((line, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return [];
    }
    return fence === undefined ? [{ line, number: index + 1 }] : [];
  });
};

/** The targets of a page's links, with their lines. */
const linksOf = (text: string): readonly { readonly target: string; readonly number: number }[] =>
  proseOf(text).flatMap(({ line, number }) =>
    [...line.replaceAll(/(`+)(?:(?!\1).)+\1/g, '').matchAll(/\]\(\s*<?([^\s<>()]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(
      ([, target = '']) => ({ target, number }),
    ),
  );

/** The anchors of a page, as GitHub derives them from its headings. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const anchors = new Set<string>();
  for (const { line } of proseOf(text)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
};

const isElsewhere = (target: string): boolean => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target);

/** Broken links of a page, as text. Does not check the internet. */
const deadLinks = ({ path, text }: Page, ground: Repository): readonly string[] =>
  linksOf(text).flatMap(({ target, number }) => {
    if (isElsewhere(target)) return [];
    const [file = '', anchor] = target.split('#', 2);
    const base = file.startsWith('/') ? '.' : posix.dirname(path);
    const to = file === '' ? path : posix.join(base, decodeURIComponent(file));
    const where = `${path}:${number}: ${target}`;
    if (to.startsWith('..')) return [`${where} leads out of the repository`];
    if (!ground.exists(to)) return [`${where} leads nowhere: there is no ${to}`];
    const page = anchor === undefined || !to.endsWith('.md') ? undefined : ground.textOf(to);
    if (anchor === undefined || page === undefined || anchorsOf(page).has(anchor)) return [];
    return [`${where} leads nowhere: ${to} has no heading #${anchor}`];
  });

const other = '# The other page\n\n## What to do\n\n## What to do\n\n## `tartan` up: *a* fleet, 2 Macs\n';
const files: Readonly<Record<string, string>> = {
  'docs/other.md': other,
  'README.md': '# Tartan\n',
  'docs/a b.md': '',
};
const folders = new Set(['docs', 'packages/kube/src']);
const ground: Repository = {
  exists: (path) => Object.hasOwn(files, path) || folders.has(path.replace(/\/$/, '')) || path === 'docs/page.md',
  textOf: (path) => files[path] ?? (path === 'docs/page.md' ? '# Page\n\n## Here\n' : undefined),
};

const judgements: [target: string, error: RegExp | undefined][] = [
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

describe('a link in a page', () => {
  for (const [target, error] of judgements) {
    test(`to ${target} ${error ? 'is dead' : 'is valid'}`, () => {
      const dead = deadLinks({ path: 'docs/page.md', text: `# Page\n\nSee [it](${target}).\n` }, ground);
      assert.equal(dead.length, error ? 1 : 0, dead.join('\n'));
      if (error) assert.match(dead[0] ?? '', error);
    });
  }

  test('is ignored in code, and found around code', () => {
    const text = '`[a](b)` [`c`](d) ![e](f "g") [h](<i>)\n```sh\n[j](k)\n```\n~~~\n```\n[l](m)\n~~~\n[n](o)\n';
    assert.deepEqual(
      linksOf(text).map(({ target, number }) => `${number} ${target}`),
      ['1 d', '1 f', '1 i', '9 o'],
    );
  });

  test('can name a heading, but not a comment in a script', () => {
    assert.deepEqual([...anchorsOf('# One\n```sh\n# two\n```\n### [Three](x.md) & four\n')], ['one', 'three--four']);
  });
});

describe('every page of the repository', () => {
  const root = join(import.meta.dirname, '../../..');
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })];
  const tree: Repository = {
    exists: (path) => existsSync(join(root, path)),
    textOf: (path) => readFileSync(join(root, path), 'utf8'),
  };

  test('has no dead links', () => {
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
