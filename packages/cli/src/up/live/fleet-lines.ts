import type { Look } from '../../show/look.ts';
import { type Cell, type Row, type Table, tableLines, wrapped } from '../../show/table.ts';
import type { Page } from '../../show/view.ts';
import { lengthOf } from './fit-line.ts';

/** What a narrow terminal can do without, the first to go first. */
const dispensable = ['WHY', 'FOR', 'STATE', 'NAMESPACE', 'FLEET', 'HOST', 'AGENT', 'VMS', 'NODE'];

/** Names that end in `…` are good for nothing, so that columns are left out rather than that: for guests some, for machines any. */
const guestsToo = ['MACHINE', 'VMS'];
const ways: readonly (readonly [whole: readonly string[], leftOut: readonly string[]])[] = [
  ...[0, 1, 2, 3, 4, 5].map((count) => [guestsToo, dispensable.slice(0, count)] as const),
  ...[...dispensable.keys(), dispensable.length].map((count) => [['MACHINE'], dispensable.slice(0, count)] as const),
];

export interface Paper {
  readonly columns: number;
  readonly look: Look;
}

/** Lines that its tables would fill. */
const tablesHeight = ({ tables }: Page): number =>
  tables.reduce((sum, { rows }) => sum + (rows.length === 0 ? 0 : rows.length + 1), 0);

const linesBelow = ({ lines }: Page, { columns }: Paper): string[] => lines.flatMap((line) => wrapped(line, columns));

/** Lines that a fleet would fill. */
export const fleetHeight = (page: Page, paper: Paper): number => tablesHeight(page) + linesBelow(page, paper).length;

/** At most so many lines: the tables, then what is said below them, of which at least one line is kept. Pure. */
export const fleetLines = (page: Page, room: number, paper: Paper): string[] => {
  const below = linesBelow(page, paper).slice(0, Math.max(1, room - tablesHeight(page)));
  const shown = page.tables.flatMap((table) => rowsThatFit(table, room - below.length, paper));
  return [...shown, ...below].slice(0, Math.max(0, room));
};

const rowsThatFit = (table: Table, room: number, paper: Paper): string[] => {
  const { head, rows } = table;
  if (rows.length + 1 <= room) return narrowed(table, paper);
  // Its head, one row, and the line that counts the others.
  if (room < 3) return [];
  const shown = rows.slice(0, room - 2);
  return [...narrowed({ head, rows: shown }, paper), andMore(rows.length - shown.length)];
};

export const andMore = (count: number): string => `… and ${count} more`;

const narrowed = (table: Table, { columns, look }: Paper): string[] => {
  const short = withShortHosts(table);
  const shorter = ways.map(([whole, leftOut]) => [whole, without(short, leftOut)] as const);
  let lines: string[] = [];
  for (const [whole, left] of [[guestsToo, table] as const, ...shorter]) {
    lines = tableLines(left, { width: columns, look });
    if (lines.every((line) => lengthOf(line) <= columns) && whole.every((column) => isWhole(left, column, lines)))
      return lines;
  }
  return lines;
};

/** As much as tells a Mac from others, and is enough for `explain`. */
const withShortHosts = ({ head, rows }: Table): Table => {
  const host = head.indexOf('HOST');
  const short = (cell: Cell): Cell => (textOf(cell).length > 9 ? `${textOf(cell).slice(0, 8)}…` : cell);
  return {
    head,
    rows: rows.map(({ key, cells }) => ({ key, cells: cells.map((cell, at) => (at === host ? short(cell) : cell)) })),
  };
};

const isWhole = ({ head, rows }: Table, column: string, [, ...lines]: readonly string[]): boolean => {
  const at = head.indexOf(column);
  return lines.every((line, row) => line.includes(textOf(rows[row]?.cells[at] ?? '')));
};

/** A Mac that nobody has is only known by columns that may be gone. The lines below count it. */
const without = ({ head, rows }: Table, columns: readonly string[]): Table => {
  const rest = <T>(cells: readonly T[]): T[] => cells.filter((_, at) => !columns.includes(head[at] ?? ''));
  const left = rows.map(({ key, cells }): Row => ({ key, cells: rest(cells) }));
  return { head: rest(head), rows: left.filter(({ cells }) => cells.some((cell) => textOf(cell) !== '')) };
};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);
