import { posix } from 'node:path';

/** A file of the repository, by its path from the root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export const incidentsPage = 'docs/incidents.md';

/** All forms of incident ids over time, so that an id of an older form is reported too. */
const id = /\b(?:INC|I|G)-\d+\b/g;

const row = /^\| (INC-\d+) \|.*\| (.+) \|$/gm;

/** A test in a row: its file, and its title as in the source. */
const test = /^`([^`]+)` › (.+)$/;

const matches = (files: readonly SourceFile[], pattern: RegExp): readonly { path: string; name: string }[] =>
  files.flatMap(({ path, text }) => [...new Set(text.match(pattern))].map((name) => ({ path, name })));

/** Ids without a row, rows that nothing mentions, and rows whose test does not exist. */
export const incidentErrors = (page: string, files: readonly SourceFile[]): readonly string[] => {
  const rows = [...page.matchAll(row)].map(([, name = '', tests = '']) => ({ name, tests: tests.split('<br>') }));
  const names = rows.map(({ name }) => name);
  const mentions = matches(
    files.filter(({ path }) => path !== incidentsPage),
    id,
  );
  const textOf = new Map(files.map(({ path, text }) => [path, text]));
  const exists = (each: string): boolean => {
    const [, path = '', title = ''] = test.exec(each.replaceAll(String.raw`\|`, '|')) ?? [];
    return title !== '' && textOf.get(path)?.includes(title) === true;
  };
  return [
    ...mentions
      .filter(({ name }) => !names.includes(name))
      .map(({ path, name }) => `${path}: ${name} has no row in ${incidentsPage}: add one, or say it in words`),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `${incidentsPage}: ${name} has two rows`),
    ...names
      .filter((name) => !mentions.some((mention) => mention.name === name))
      .map((name) => `${incidentsPage}: nothing mentions ${name}: delete the row`),
    ...rows.flatMap(({ name, tests }) =>
      tests.filter((each) => !exists(each)).map((each) => `${incidentsPage}: ${name}: there is no test ${each}`),
    ),
  ];
};

/** Names of pages that are not in the repository. */
export const pageErrors = (files: readonly SourceFile[]): readonly string[] => {
  const pages = new Set(files.map(({ path }) => posix.basename(path)));
  return matches(files, /(?<![\w-])[\w-]+\.md\b/g)
    .filter(({ name }) => !pages.has(name))
    .map(({ path, name }) => `${path}: there is no page ${name}: say it in words, or cite a public source`);
};
