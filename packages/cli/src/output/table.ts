import { charactersOf, paint, printable, type TextStyle, type Tone } from './terminal-text.ts';

/** What stands in one place of a table. */
export type Cell =
  | string
  | {
      readonly text: string;
      readonly tone?: Tone | undefined;
      /** It changes with the clock, which is no news. */
      readonly passing?: boolean;
    };

export interface Row {
  /** Tells it from the others over time. */
  readonly key: string;
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

interface TableOptions {
  /** Columns of the terminal; undefined where lines may be as long as they are. */
  readonly width?: number | undefined;
  readonly style: TextStyle;
}

const gap = 3;
/** Of a name that is cut so many letters are enough to go on with: `explain` takes the beginning of one. */
const minColumnWidth = 9;

const textOf = (cell: Cell): string => printable(typeof cell === 'string' ? cell : cell.text);
const lengthOf = (text: string): number => charactersOf(text).length;

/**
 * The lines of a table, its head first. On a terminal that is too narrow the widest columns are cut, the widest first, so that what is
 * short stays readable and no line breaks. Columns in which nobody has anything are left out.
 */
export const tableLines = ({ head, rows }: Table, paper: TableOptions): string[] => {
  const used = head.map((_, at) => at).filter((at) => rows.some(({ cells }) => textOf(cells[at] ?? '') !== ''));
  const widths = widthsOf({ head, rows }, used, paper.width);
  const line = (cells: readonly Cell[], tone?: Tone): string =>
    used
      .map((at, index) => {
        const cell = cells[at] ?? '';
        const text = truncate(textOf(cell), widths[index] ?? 0);
        // Nothing after the last one: blanks at the end of a line break it on a terminal.
        const blanks = index === used.length - 1 ? '' : ' '.repeat((widths[index] ?? 0) - lengthOf(text) + gap);
        return `${paint(paper.style, tone ?? (typeof cell === 'string' ? undefined : cell.tone), text)}${blanks}`;
      })
      .join('')
      .trimEnd();
  return rows.length === 0 ? [] : [line(head, 'bold'), ...rows.map(({ cells }) => line(cells))];
};

const widthsOf = ({ head, rows }: Table, used: readonly number[], limit: number | undefined): number[] => {
  const widths = used.map((at) =>
    rows.reduce((most, { cells }) => Math.max(most, lengthOf(textOf(cells[at] ?? ''))), lengthOf(head[at] ?? '')),
  );
  if (limit === undefined) return widths;
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - limit;
  while (excess > 0) {
    const [widest = 0, second = 0] = [...widths].sort((a, b) => b - a);
    if (widest <= minColumnWidth) break;
    const at = widths.indexOf(widest);
    const less = Math.min(excess, Math.max(1, widest - Math.max(second, minColumnWidth)));
    widths[at] = widest - less;
    excess -= less;
  }
  return widths;
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

/** Less room than that beside the columns, and the text goes below them. */
const minTextWidth = 30;
const toneOf = (cell: Cell): Tone | undefined => (typeof cell === 'string' ? undefined : cell.tone);

interface WrappedRow {
  readonly columns: readonly Cell[];
  readonly text: string;
}

/** Columns, and beside them a text that is wrapped and never cut: for what people have to read to the end. */
export const wrappedTableLines = (
  rows: readonly WrappedRow[],
  { width, style, indent = '' }: { readonly width: number; readonly style: TextStyle; readonly indent?: string },
): string[] => {
  const count = Math.max(0, ...rows.map(({ columns }) => columns.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map(({ columns }) => charactersOf(textOf(columns[at] ?? '')).length)),
  );
  const used = widths.flatMap((size, at) => (size > 0 ? [at] : []));
  const left = indent.length + used.reduce((sum, at) => sum + (widths[at] ?? 0) + gap, 0);
  const beside = width - left >= minTextWidth;
  return rows.flatMap(({ columns, text }) => {
    const head = used
      .map((at) => {
        const cell = columns[at] ?? '';
        const blanks = ' '.repeat((widths[at] ?? 0) - charactersOf(textOf(cell)).length + gap);
        return `${paint(style, toneOf(cell), textOf(cell))}${blanks}`;
      })
      .join('');
    if (text === '') return [`${indent}${head}`.trimEnd()];
    if (!beside) return [`${indent}${head}`.trimEnd(), ...wrapText(text, width, `${indent}    `)];
    const [first = '', ...more] = wrapText(text, width - left);
    return [`${indent}${head}${first}`, ...more.map((line) => `${' '.repeat(left)}${line}`)];
  });
};

/** Lines of a table whose columns stand below each other, as kubectl prints them. The first row has a cell for every column. */
export const alignColumns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
};
