import type { Writable } from 'node:stream';
import { z } from 'zod';
import type { Connection } from '../cluster/connection.ts';
import type { ClusterState, Selection, StateSource } from '../cluster/state.ts';
import { type Row, type Table, tableLines, wrapText } from './table.ts';
import { escapeControls, printable, type TextStyle, writeRaw } from './terminal-text.ts';

/** What a script gets: its name and version, when it was true, and what could not be seen. A version never loses a field. */
export const documentSchema = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({
    schema: z.literal(name),
    at: z.string().describe('Time of the observation.'),
    ...shape,
    notes: z.array(z.string()).describe('What could not be read, and why.'),
  });

/** Always there, so that a script can tell what is not known from what it has misspelled. */
export const nullable = <Type extends z.ZodType>(type: Type, description = '') =>
  description === '' ? type.nullable() : type.nullable().describe(description);

/** Every document says when it was true. */
export interface ViewDocument {
  readonly at: string;
}

/** What a command shows of what it sees: to scripts as a document, to people as a page. Both are pure. */
export interface View<Document extends ViewDocument, Seen = ClusterState> {
  readonly source: StateSource<Seen>;
  documentOf(seen: Seen): Document;
  pageOf(document: Document): Page;
  exitCode(document: Document): number;
}

export interface Page {
  readonly tables: readonly Table[];
  /** Below the tables. */
  readonly lines: readonly string[];
}

export interface ViewOptions extends Selection {
  readonly output: 'table' | 'json';
  readonly watch: boolean;
}

export interface Screen {
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly style: TextStyle;
}

/** Shows it once, or until the signal fires. Answers the exit code. Rejects when the cluster cannot be looked at. */
export const showView = async <Document extends ViewDocument, Seen>(
  view: View<Document, Seen>,
  { output, watch, ...selection }: ViewOptions,
  connection: Connection,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> => {
  const first = await view.source.read(connection, selection, signal);
  if (!watch) {
    const document = view.documentOf(first);
    screen.stdout.write(
      output === 'json'
        ? `${JSON.stringify(document, null, 2)}\n`
        : text(pageLines(view.pageOf(document), widthOf(screen), screen.style)),
    );
    return view.exitCode(document);
  }
  const show =
    output === 'json' ? jsonLines(screen) : screen.stdout.isTTY === true ? redraw(screen) : changedLines(screen);
  await view.source.watch(
    connection,
    selection,
    first,
    {
      onChange: (seen) => {
        const document = view.documentOf(seen);
        show({ document, page: view.pageOf(document) });
      },
      everyMs: screen.stdout.isTTY === true && output === 'table' ? tickMs : undefined,
    },
    signal,
  );
  return 0;
};

/** Ages have one number: most of them change once a second at most, and nobody needs each second of them. */
const tickMs = 5000;

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const widthOf = ({ stdout }: Screen): number | undefined => (stdout.isTTY === true ? stdout.columns : undefined);

export const pageLines = ({ tables, lines }: Page, width: number | undefined, style: TextStyle): string[] => {
  const parts = tables.map((table) => tableLines(table, { width, style })).filter((part) => part.length > 0);
  const below = lines.flatMap((line) => wrapText(line, width ?? 132));
  return [...parts, ...(below.length > 0 ? [below] : [])].flatMap((part, at) => (at === 0 ? part : ['', ...part]));
};

interface Shown {
  readonly document: ViewDocument;
  readonly page: Page;
}

/** One document per line, whenever something changed. */
const jsonLines = ({ stdout }: Screen) => {
  let last = '';
  return ({ document }: Shown): void => {
    const { at: _, ...news } = document;
    const now = JSON.stringify(news);
    if (now !== last) stdout.write(`${JSON.stringify(document)}\n`);
    last = now;
  };
};

const home = '\u001B[H';
const restOfLine = '\u001B[K';
const below = '\u001B[J';

/** Written over what was there, line by line: a screen that is cleared first flickers. */
const redraw =
  (screen: Screen) =>
  ({ page }: Shown): void => {
    const lines = pageLines(page, widthOf(screen), screen.style);
    writeRaw(screen.stdout, `${home}${lines.map((line) => `${escapeControls(line)}${restOfLine}\n`).join('')}${below}`);
  };

/** For a pipe or a log: the tables as they begin, then a line for each row that is new, different or gone. */
export const changedLines = ({ stdout, style }: Screen) => {
  let last: ReadonlyMap<string, Row> | undefined;
  return ({ page }: Shown): void => {
    const rows = new Map(page.tables.flatMap((table) => table.rows.map((row) => [row.key, row] as const)));
    if (last === undefined) stdout.write(text(pageLines(page, undefined, style)));
    else {
      const before = last;
      const isNews = (row: Row): boolean => lastingCells(before.get(row.key)) !== lastingCells(row);
      for (const row of rows.values()) if (isNews(row)) stdout.write(`${plainRow(row)}\n`);
      for (const row of before.values()) if (!rows.has(row.key)) stdout.write(`${printable(row.key)}   (gone)\n`);
    }
    last = rows;
  };
};

const lastingCells = (row: Row | undefined): string | undefined =>
  row && JSON.stringify(row.cells.filter((cell) => typeof cell === 'string' || cell.passing !== true));

const plainRow = ({ cells }: Row): string =>
  cells
    .map((cell) => printable(typeof cell === 'string' ? cell : cell.text) || '-')
    .join('   ')
    .trimEnd();
