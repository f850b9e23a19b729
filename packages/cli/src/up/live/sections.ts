import { type Cell, type Row, type Table, tableLines, wrapText } from '../../output/table.ts';
import { type TextStyle, visibleLength } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';

/** Columns that a narrow terminal leaves out, in this order. */
const optionalColumns = ['WHY', 'FOR', 'STATE', 'NAMESPACE', 'FLEET', 'HOST', 'AGENT', 'VMS', 'NODE'];

/** Columns are left out rather than names cut. */
const uncutColumns = ['MACHINE', 'VMS'];

interface SectionOptions {
  readonly columns: number;
  readonly style: TextStyle;
}

const tablesHeight = ({ tables }: Page): number =>
  tables.reduce((sum, { rows }) => sum + (rows.length === 0 ? 0 : rows.length + 1), 0);

const linesBelow = ({ lines }: Page, { columns }: SectionOptions): string[] =>
  lines.flatMap((line) => wrapText(line, columns));

export const fleetHeight = (page: Page, paper: SectionOptions): number =>
  tablesHeight(page) + linesBelow(page, paper).length;

/** At most `room` lines: the tables, then at least one line of the text below. Pure. */
export const fleetLines = (page: Page, room: number, paper: SectionOptions): string[] => {
  const below = linesBelow(page, paper).slice(0, Math.max(1, room - tablesHeight(page)));
  const shown = page.tables.flatMap((table) => rowsThatFit(table, room - below.length, paper));
  return [...shown, ...below].slice(0, Math.max(0, room));
};

const rowsThatFit = (table: Table, room: number, paper: SectionOptions): string[] => {
  const { head, rows } = table;
  if (rows.length + 1 <= room) return fitColumns(table, paper);
  // The head, one row, and the line that counts the others.
  if (room < 3) return [];
  const shown = rows.slice(0, room - 2);
  return [...fitColumns({ head, rows: shown }, paper), `… and ${rows.length - shown.length} more`];
};

const fitColumns = (table: Table, { columns, style }: SectionOptions): string[] => {
  const short = withShortHosts(table);
  const narrower = [...optionalColumns.keys(), optionalColumns.length].map((count) =>
    withoutColumns(short, optionalColumns.slice(0, count)),
  );
  let lines: string[] = [];
  for (const each of [table, ...narrower]) {
    lines = tableLines(each, { width: columns, style });
    if (
      lines.every((line) => visibleLength(line) <= columns) &&
      uncutColumns.every((column) => isUncut(each, column, lines))
    )
      break;
  }
  return lines;
};

/** `explain` accepts the beginning of an ID. */
const withShortHosts = ({ head, rows }: Table): Table => {
  const host = head.indexOf('HOST');
  const short = (cell: Cell): Cell => (textOf(cell).length > 9 ? `${textOf(cell).slice(0, 8)}…` : cell);
  return {
    head,
    rows: rows.map(({ key, cells }) => ({ key, cells: cells.map((cell, at) => (at === host ? short(cell) : cell)) })),
  };
};

const isUncut = ({ head, rows }: Table, column: string, [, ...lines]: readonly string[]): boolean => {
  const at = head.indexOf(column);
  return lines.every((line, row) => line.includes(textOf(rows[row]?.cells[at] ?? '')));
};

/** A row without a machine can become empty. The summary still counts it. */
const withoutColumns = ({ head, rows }: Table, columns: readonly string[]): Table => {
  const rest = <T>(cells: readonly T[]): T[] => cells.filter((_, at) => !columns.includes(head[at] ?? ''));
  const left = rows.map(({ key, cells }): Row => ({ key, cells: rest(cells) }));
  return { head: rest(head), rows: left.filter(({ cells }) => cells.some((cell) => textOf(cell) !== '')) };
};

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);
