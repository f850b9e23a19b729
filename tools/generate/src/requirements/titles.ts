/** A title that stands in a test file, after those of the blocks around it. */
export type TitlePath = readonly string[];

const call =
  /^([ \t]*)(?:await )?(test|it|describe)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)\s*,(\s*\{[^}]*\b(?:skip|todo): true\b)?/gm;

const withoutBlockComments = (source: string): string => source.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, '');

/**
 * The titles in a test file: string literals that are given to `test`, `it` or `describe` at the beginning of a line. What is commented
 * out or always skipped shows nothing. A title that is put together while tests run is found by its `describe`.
 *
 * Assumes that files are formatted: a block ends where a line is indented as its beginning was.
 */
export const titlesIn = (source: string): readonly TitlePath[] => {
  const found: TitlePath[] = [];
  let around: { readonly indent: number; readonly title: string }[] = [];
  for (const [, spaces = '', kind, single, double, template, isOff] of withoutBlockComments(source).matchAll(call)) {
    const indent = spaces.length;
    const title = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1');
    around = around.filter((block) => block.indent < indent);
    if (isOff === undefined) found.push([...around.map((block) => block.title), title]);
    if (kind === 'describe') around.push({ indent, title });
  }
  return found;
};
