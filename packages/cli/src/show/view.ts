import type { Writable } from 'node:stream';
import type { Connection } from '../cluster/cluster.ts';
import type { Selection, World } from '../world/observe.ts';
import type { Sight } from '../world/sight.ts';
import { type Look, printable } from './look.ts';
import { drawOn, escapeControls } from './safe-output.ts';
import { type Row, type Table, tableLines, wrapped } from './table.ts';

/** Every document says when it was true. */
export interface Dated {
  readonly at: string;
}

/** What a command shows of what it sees: to scripts as a document, to people as a page. Both are pure. */
export interface View<Document extends Dated, Seen = World> {
  readonly sight: Sight<Seen>;
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
  readonly look: Look;
}

/** Shows it once, or until the signal fires. Answers the exit code. Rejects when the cluster cannot be looked at. */
export const showView = async <Document extends Dated, Seen>(
  view: View<Document, Seen>,
  { output, watch, ...selection }: ViewOptions,
  connection: Connection,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> => {
  const first = await view.sight.observe(connection, selection, signal);
  if (!watch) {
    const document = view.documentOf(first);
    screen.stdout.write(
      output === 'json'
        ? `${JSON.stringify(document, null, 2)}\n`
        : text(pageLines(view.pageOf(document), widthOf(screen), screen.look)),
    );
    return view.exitCode(document);
  }
  const show =
    output === 'json' ? jsonLines(screen) : screen.stdout.isTTY === true ? redrawn(screen) : changedLines(screen);
  await view.sight.follow(
    connection,
    selection,
    first,
    {
      show: (seen) => {
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

export const pageLines = ({ tables, lines }: Page, width: number | undefined, look: Look): string[] => {
  const parts = tables.map((table) => tableLines(table, { width, look })).filter((part) => part.length > 0);
  const below = lines.flatMap((line) => wrapped(line, width ?? 132));
  return [...parts, ...(below.length > 0 ? [below] : [])].flatMap((part, at) => (at === 0 ? part : ['', ...part]));
};

interface Shown {
  readonly document: Dated;
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
const redrawn =
  (screen: Screen) =>
  ({ page }: Shown): void => {
    const lines = pageLines(page, widthOf(screen), screen.look);
    drawOn(screen.stdout, `${home}${lines.map((line) => `${escapeControls(line)}${restOfLine}\n`).join('')}${below}`);
  };

/** For a pipe or a log: the tables as they begin, then a line for each row that is new, different or gone. */
export const changedLines = ({ stdout, look }: Screen) => {
  let last: ReadonlyMap<string, Row> | undefined;
  return ({ page }: Shown): void => {
    const rows = new Map(page.tables.flatMap((table) => table.rows.map((row) => [row.key, row] as const)));
    if (last === undefined) stdout.write(text(pageLines(page, undefined, look)));
    else {
      const before = last;
      const isNews = (row: Row): boolean => newsOf(before.get(row.key)) !== newsOf(row);
      for (const row of rows.values()) if (isNews(row)) stdout.write(`${plain(row)}\n`);
      for (const row of before.values()) if (!rows.has(row.key)) stdout.write(`${printable(row.key)}   (gone)\n`);
    }
    last = rows;
  };
};

const newsOf = (row: Row | undefined): string | undefined =>
  row && JSON.stringify(row.cells.filter((cell) => typeof cell === 'string' || cell.passing !== true));

const plain = ({ cells }: Row): string =>
  cells
    .map((cell) => printable(typeof cell === 'string' ? cell : cell.text) || '-')
    .join('   ')
    .trimEnd();
