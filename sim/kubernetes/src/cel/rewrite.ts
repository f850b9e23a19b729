import type { ASTNode } from '@marcbachmann/cel-js';

/** A replacement of source text. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

export interface Rewritten {
  source: string;
  /** Maps a position in the rewritten source to the original source. */
  original(position: number): number;
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** Every node of an expression, parents first. */
export const nodesOf = (value: unknown): ASTNode[] => {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  return isNode(value) ? [value, ...nodesOf(value.args)] : [];
};

const apply = (source: string, edits: readonly Edit[]): Rewritten => {
  const ordered = [...edits].sort((a, b) => a.start - b.start);
  let result = '';
  let position = 0;
  const marks: { at: number; shift: number }[] = [];
  for (const { start, end, text } of ordered) {
    result += source.slice(position, start) + text;
    position = end;
    marks.push({ at: result.length, shift: result.length - end });
  }
  return {
    source: result + source.slice(position),
    original: (where) => where - (marks.findLast(({ at }) => at <= where)?.shift ?? 0),
  };
};

/** The `(` of the `has` call for the field at `position`: the real server reports an undefined field there. */
export const openingOfHas = (source: string, ast: ASTNode, position: number): number | undefined => {
  const asking = nodesOf(ast).find((node) => selectIn(node)?.select.pos === position);
  return asking && source.indexOf('(', asking.start);
};

/** The field selection in `has(a.b)`: the selection and its operand. */
const selectIn = (node: ASTNode): { select: ASTNode; from: ASTNode } | undefined => {
  if (node.op !== 'call' || node.args[0] !== 'has') return undefined;
  const select = node.args[1][0];
  if (!select || (select.op !== '.' && select.op !== '.?')) return undefined;
  return { select, from: select.args[0] };
};

/** Only the arguments of `format` may have different types in one list. */
const mixedItems = (node: ASTNode): ASTNode[] => {
  if (node.op !== 'rcall' || node.args[0] !== 'format') return [];
  const [list] = node.args[2];
  return list?.op === 'list' ? list.args : [];
};

const around = (start: number, end: number): Edit[] => [
  { start, end: start, text: 'dyn(' },
  { start: end, end, text: ')' },
];

/**
 * For type checking: `has(a.b)` becomes an expression that is a bool and valid only if `a` has a field `b`. Text before the field keeps its
 * position.
 */
export const forChecking = (source: string, ast: ASTNode): Rewritten =>
  apply(
    source,
    nodesOf(ast).flatMap((node): Edit[] => {
      const found = selectIn(node);
      if (!found) return mixedItems(node).flatMap(({ start, end }) => around(start, end));
      const { select } = found;
      return [
        { start: node.start, end: select.start, text: '(['.padStart(select.start - node.start) },
        { start: select.end, end: node.end, text: `${source.slice(select.end, node.end - 1)}].size() == 1)` },
      ];
    }),
  );

/** For evaluation: rewrites `has(a[0].b)` into a form that the evaluator supports, and `matches` into the RE2 version. */
export const forEvaluating = (source: string, ast: ASTNode): string =>
  apply(
    source,
    nodesOf(ast).flatMap((node): Edit[] => {
      if (node.op === 'rcall' && node.args[0] === 'matches') {
        const start = source.indexOf('matches', node.args[1].end);
        return [{ start, end: start + 'matches'.length, text: 're2Matches' }];
      }
      const found = selectIn(node);
      if (!found) return [];
      const { select, from } = found;
      const dot = source.indexOf('.', from.end);
      return [
        { start: node.start, end: select.start, text: '(' },
        ...(select.op === '.' ? [{ start: dot, end: dot + 1, text: '.?' }] : []),
        { start: select.end, end: node.end, text: `${source.slice(select.end, node.end - 1)}.hasValue())` },
      ];
    }),
  ).source;
