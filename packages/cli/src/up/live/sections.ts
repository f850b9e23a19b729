import { type Cell, type Row, type Table, tableLines, wrapText } from '../../output/table.ts';
import { type TextStyle, visibleLength } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';
import type { MacProgress } from './mac-progress.ts';

/** Columns that a narrow terminal leaves out, in this order. */
const optionalColumns = ['WHY', 'FOR', 'STATE', 'NAMESPACE', 'FLEET', 'HOST', 'AGENT', 'VMS', 'NODE'];

/** Columns are left out rather than names cut: up to five for names of guests, any number for names of machines. */
const uncutColumns = ['MACHINE', 'VMS'];
const layouts: readonly (readonly [whole: readonly string[], leftOut: readonly string[]])[] = [
  ...[0, 1, 2, 3, 4, 5].map((count) => [uncutColumns, optionalColumns.slice(0, count)] as const),
  ...[...optionalColumns.keys(), optionalColumns.length].map(
    (count) => [['MACHINE'], optionalColumns.slice(0, count)] as const,
  ),
];

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
  return [...fitColumns({ head, rows: shown }, paper), moreLine(rows.length - shown.length)];
};

const moreLine = (count: number): string => `… and ${count} more`;

const fitColumns = (table: Table, { columns, style }: SectionOptions): string[] => {
  const short = withShortHosts(table);
  const shorter = layouts.map(([whole, leftOut]) => [whole, withoutColumns(short, leftOut)] as const);
  let lines: string[] = [];
  for (const [whole, left] of [[uncutColumns, table] as const, ...shorter]) {
    lines = tableLines(left, { width: columns, style });
    if (lines.every((line) => visibleLength(line) <= columns) && whole.every((column) => isUncut(left, column, lines)))
      return lines;
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

const barLetters = 12;
/** A narrower terminal shows no bars. */
const minBarColumns = 70;

/** A line for each machine that is not Ready yet. Pure. */
export const progressLines = (macs: readonly MacProgress[], room: number, paper: SectionOptions): string[] => {
  const shown = macs.length <= room ? macs : macs.slice(0, Math.max(0, room - 1));
  const rows = shown.map((mac) => rowOf(mac, paper));
  // Without the head.
  const lines = tableLines({ head: ['', '', '', ''], rows }, { width: paper.columns, style: paper.style }).slice(1);
  return shown.length === macs.length ? lines : [...lines, moreLine(macs.length - shown.length)].slice(0, room);
};

const rowOf = ({ machine, steps, what }: MacProgress, { columns }: SectionOptions): Row => {
  const done = steps.filter((step) => step.done).length;
  const bar = columns < minBarColumns ? '' : barOf(done, steps.length);
  return {
    key: machine,
    cells: [machine, { text: bar, tone: 'good' }, `${String(done).padStart(2)}/${steps.length}`, what],
  };
};

const barOf = (done: number, of: number): string => {
  const full = of === 0 ? 0 : Math.floor((barLetters * done) / of);
  return `${'█'.repeat(full)}${'░'.repeat(barLetters - full)}`;
};
