import { charactersOf, paint, printable, type TextStyle, type Tone } from './terminal-text.ts';

export type Cell =
  | string
  | {
      readonly text: string;
      readonly tone?: Tone | undefined;
      /** Changes with the clock: `--watch` does not report it. */
      readonly passing?: boolean;
    };

export interface Row {
  /** Identifies the row over time. */
  readonly key: string;
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

/** Adds the namespaces of the rows as the first column, if there are several. */
export const withNamespaces = ({ head, rows }: Table, namespaces: readonly (string | null)[]): Table =>
  new Set(namespaces.filter((each) => each !== null)).size <= 1
    ? { head, rows }
    : {
        head: ['NAMESPACE', ...head],
        rows: rows.map(({ key, cells }, at) => ({ key, cells: [namespaces[at] ?? '', ...cells] })),
      };

interface TableOptions {
  /** Columns of the terminal. Undefined: lines are not cut. */
  readonly width?: number | undefined;
  readonly style: TextStyle;
}

const gap = 3;
/** A cut name keeps at least this many letters: `explain` accepts the beginning of a name. */
const minColumnWidth = 9;

/** A column that is shown: its place in the row, and its width. */
type Column = readonly [at: number, width: number];

export const textOf = (cell: Cell = ''): string => printable(typeof cell === 'string' ? cell : cell.text);
const lengthOf = (text: string): number => charactersOf(text).length;

/** The columns in which some row has a text, as wide as the widest. */
const usedColumns = (rows: readonly (readonly Cell[])[], head: readonly string[] = []): Column[] =>
  Array.from({ length: Math.max(0, ...rows.map(({ length }) => length)) }, (_, at): Column => {
    const width = Math.max(0, ...rows.map((cells) => lengthOf(textOf(cells[at]))));
    return [at, width === 0 ? 0 : Math.max(width, lengthOf(head[at] ?? ''))];
  }).filter(([, width]) => width > 0);

const paddedCells = (cells: readonly Cell[], columns: readonly Column[], style: TextStyle, tone?: Tone): string =>
  columns
    .map(([at, width]) => {
      const cell = cells[at] ?? '';
      const text = truncate(textOf(cell), width);
      const blanks = ' '.repeat(width - lengthOf(text) + gap);
      return `${paint(style, tone ?? (typeof cell === 'string' ? undefined : cell.tone), text)}${blanks}`;
    })
    .join('');

/**
 * The lines of a table, its head first. On a narrow terminal the widest columns are cut, the widest first, so that short cells stay
 * readable and no line breaks. Empty columns are left out.
 */
export const tableLines = ({ head, rows }: Table, { width, style }: TableOptions): string[] => {
  const columns = usedColumns(
    rows.map(({ cells }) => cells),
    head,
  );
  const fitted = width === undefined ? columns : fitColumns(columns, width);
  // Trailing blanks would break a line that fills the terminal.
  const line = (cells: readonly Cell[], tone?: Tone): string => paddedCells(cells, fitted, style, tone).trimEnd();
  return rows.length === 0 ? [] : [line(head, 'bold'), ...rows.map(({ cells }) => line(cells))];
};

const fitColumns = (columns: readonly Column[], limit: number): Column[] => {
  const widths = columns.map(([, width]) => width);
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - limit;
  while (excess > 0) {
    const [widest = 0, second = 0] = widths.toSorted((a, b) => b - a);
    if (widest <= minColumnWidth) break;
    const less = Math.min(excess, Math.max(1, widest - Math.max(second, minColumnWidth)));
    widths[widths.indexOf(widest)] = widest - less;
    excess -= less;
  }
  return columns.map(([at], index) => [at, widths[index] ?? 0]);
};

const truncate = (text: string, width: number): string =>
  lengthOf(text) <= width
    ? text
    : `${charactersOf(text)
        .slice(0, Math.max(0, width - 1))
        .join('')}…`;

/** A paragraph in lines of at most that many letters; words are kept whole. */
export const wrapText = (text: string, width = 100, indent = ''): string[] => {
  const lines: string[] = [];
  for (const word of printable(text).split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
};

/** With less room than this beside the columns, the text goes below them. */
const minTextWidth = 30;

interface WrappedRow {
  readonly columns: readonly Cell[];
  readonly text: string;
}

/** Columns, and beside them a text that is wrapped and never cut. */
export const wrappedTableLines = (
  rows: readonly WrappedRow[],
  { width, style, indent = '' }: { readonly width: number; readonly style: TextStyle; readonly indent?: string },
): string[] => {
  const used = usedColumns(rows.map(({ columns }) => columns));
  const left = indent.length + used.reduce((sum, [, size]) => sum + size + gap, 0);
  return rows.flatMap(({ columns, text }) => {
    const head = `${indent}${paddedCells(columns, used, style)}`;
    if (text === '') return [head.trimEnd()];
    if (width - left < minTextWidth) return [head.trimEnd(), ...wrapText(text, width, `${indent}    `)];
    const [first = '', ...more] = wrapText(text, width - left);
    return [`${head}${first}`, ...more.map((line) => `${' '.repeat(left)}${line}`)];
  });
};
