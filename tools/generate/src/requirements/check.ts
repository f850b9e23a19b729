import type { ReadFile, Requirements, Row, TestReference } from './requirements.ts';

/** A title in a test file, after the titles of the blocks around it. */
type TitlePath = readonly string[];

const testCall =
  /^([ \t]*)(?:await )?(test|it|describe)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*,(\s*\{[^}]*\b(?:skip|todo): true\b)?/gm;

const withoutBlockComments = (source: string): string => source.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, '');

/**
 * The titles in a test file: string literals that are passed to `test`, `it` or `describe` at the beginning of a line. Titles that are
 * commented out or always skipped do not count. A test with a computed title is found by the title of its `describe`.
 *
 * Assumes that files are formatted: a block ends at a line with the same indentation as its first line.
 */
export const titlesIn = (source: string): readonly TitlePath[] => {
  const found: TitlePath[] = [];
  let around: { readonly indent: number; readonly title: string }[] = [];
  for (const [, spaces = '', kind, single, double, template, isOff] of withoutBlockComments(source).matchAll(
    testCall,
  )) {
    const indent = spaces.length;
    const title = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1');
    around = around.filter((block) => block.indent < indent);
    if (isOff === undefined) found.push([...around.map((block) => block.title), title]);
    if (kind === 'describe') around.push({ indent, title });
  }
  return found;
};

/** What is wrong with the table. Each message says what to do. */
export const requirementErrors = (requirements: Requirements, read: ReadFile): string[] => [
  ...idErrors(requirements),
  ...requirements.chapters.flatMap(({ rows }) => rows.flatMap((row) => testErrors(row, read))),
];

const repeated = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text, at) => texts.indexOf(text) !== at)),
];

/** Every id exists once. */
const idErrors = ({ chapters, sizes }: Requirements): string[] => {
  const wanted = new Set(
    Object.entries(sizes).flatMap(([letter, size]) => Array.from({ length: size }, (_, at) => `${letter}${at + 1}`)),
  );
  const ids = chapters.flatMap(({ rows }) => rows.map(({ id }) => id));
  const astray = chapters.flatMap(({ letter, rows }) => rows.filter(({ id }) => !id.startsWith(letter)));
  return [
    ...repeated(ids).map((id) => `${id} is there twice: give one of them its own number, or take it out.`),
    ...[...wanted].filter((id) => !ids.includes(id)).map((id) => `${id} is missing: put it back.`),
    ...ids
      .filter((id) => !wanted.has(id))
      .map((id) => `${id} is no number of the sequence: give it the next one of its chapter, and count it in "sizes".`),
    ...astray.map(({ id }) => `${id} stands in the chapter of other letters: move it to its own.`),
  ];
};

/** The row has tests, and they exist. */
const testErrors = ({ id, tests }: Row, read: ReadFile): string[] => [
  ...(tests.length === 0 ? [`${id} has no test: list one that fails without the behaviour.`] : []),
  ...repeated(tests.map(({ file, title }) => `"${title}" in ${file}`)).map(
    (test) => `${id} names ${test} twice: once is enough.`,
  ),
  ...tests.flatMap((test) => missing(test, read).map((why) => `${id}: ${why}`)),
];

const missing = ({ file, title }: TestReference, read: ReadFile): string[] => {
  const source = read(file);
  if (source === undefined) return [`there is no ${file}: name the file in which the test stands now.`];
  const count = titlesIn(source).filter((path) => path.at(-1) === title).length;
  if (count === 1) return [];
  return count === 0
    ? [`no test of ${file} has the title "${title}": copy it from there, or name the describe around it.`]
    : [`"${title}" stands in ${file} ${count} times: give the one that is meant a title of its own.`];
};
