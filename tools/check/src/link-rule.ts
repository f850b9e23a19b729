import { posix } from 'node:path';

/** A page of ours, by its path from the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** What pages may lead to. */
export interface Ground {
  /** Whether there is such a file or folder, by its path from the root. */
  exists(path: string): boolean;
  /** Of a page; undefined for what is none of ours. */
  textOf(path: string): string | undefined;
}

/** Lines of a page that are read as such: nothing in a code block is a link or a heading. */
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

/** Where a page leads, each with its line. */
export const linksOf = (text: string): readonly { readonly target: string; readonly number: number }[] =>
  proseOf(text).flatMap(({ line, number }) =>
    [...line.replaceAll(/(`+)(?:(?!\1).)+\1/g, '').matchAll(/\]\(\s*<?([^\s<>()]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(
      ([, target = '']) => ({ target, number }),
    ),
  );

/** The places within a page that a link can name, as GitHub makes them of its headings. */
export const anchorsOf = (text: string): ReadonlySet<string> => {
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

/** The links of a page that lead nowhere, in words. What is on the internet is not asked for. */
export const deadLinks = ({ path, text }: Page, ground: Ground): readonly string[] =>
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
