import type { Writable } from 'node:stream';
import { z } from 'zod';
import type { Cluster, Connection } from '../cluster/connection.ts';
import type { ClusterState, Selection } from '../cluster/state.ts';
import { watchState } from '../cluster/watch-state.ts';
import { type Row, type Table, tableLines, textOf, wrapText } from './table.ts';
import { escapeControls, printable, type TextStyle, writeRaw } from './terminal-text.ts';

/** A JSON document: its name and version, the time of the observation, and what could not be read. A version never loses a field. */
export const documentSchema = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({
    schema: z.literal(name),
    at: z.string().describe('Time of the observation.'),
    ...shape,
    notes: z.array(z.string()).describe('What could not be read, and why.'),
  });

/** Always present, so that a script can tell an unknown value from a misspelled field. */
export const nullable = <Type extends z.ZodType>(type: Type, description?: string) => {
  const filled = type.nullable().default(null);
  return description === undefined ? filled : filled.describe(description);
};

/** A part of a document: fields that are undefined become null, and unknown fields are dropped. */
export const fill = <Schema extends z.ZodType>(schema: Schema, values: z.input<Schema>): z.output<Schema> =>
  schema.parse(values);

export interface ViewDocument {
  readonly at: string;
}

export interface ViewState {
  readonly notes: readonly string[];
}

/** What a command shows: the objects that it reads, a document for scripts, and a page for people. The last two are pure. */
export interface View<Document extends ViewDocument, State extends ViewState = ClusterState> {
  read(cluster: Cluster, selection: Selection, signal: AbortSignal): Promise<State>;
  documentOf(state: State): Document;
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

/** Shows a view once, or until the signal fires. Returns the exit code. Rejects when the cluster cannot be read. */
export const showView = async <Document extends ViewDocument, State extends ViewState>(
  view: View<Document, State>,
  { output, watch, ...selection }: ViewOptions,
  connection: Connection,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> => {
  const read = (cluster: Cluster): Promise<State> => view.read(cluster, selection, signal);
  if (!watch) {
    const document = view.documentOf(await read(connection));
    writeOutput(screen, output, document, () => pageLines(view.pageOf(document), widthOf(screen), screen.style));
    return view.exitCode(document);
  }
  const show =
    output === 'json' ? jsonLines(screen) : screen.stdout.isTTY === true ? redraw(screen) : changedLines(screen);
  await watchState(
    connection,
    read,
    {
      onChange: (state) => {
        const document = view.documentOf(state);
        show({ document, page: view.pageOf(document) });
      },
      everyMs: screen.stdout.isTTY === true && output === 'table' ? tickMs : undefined,
    },
    signal,
  );
  return 0;
};

/** Ages are redrawn this often. */
const tickMs = 5000;

const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Undefined: not a terminal, and lines are not cut. */
export const widthOf = ({ stdout }: Pick<Screen, 'stdout'>): number | undefined =>
  stdout.isTTY === true ? stdout.columns : undefined;

/** Prints the document for scripts, or the lines for people. */
export const writeOutput = (
  { stdout }: { readonly stdout: Writable },
  output: ViewOptions['output'],
  document: object,
  lines: () => readonly string[],
): void => void stdout.write(output === 'json' ? `${JSON.stringify(document, null, 2)}\n` : joinLines(lines()));

export const pageLines = ({ tables, lines }: Page, width: number | undefined, style: TextStyle): string[] => {
  const parts = tables.map((table) => tableLines(table, { width, style })).filter((part) => part.length > 0);
  const below = lines.flatMap((line) => wrapText(line, width ?? 132));
  return [...parts, ...(below.length > 0 ? [below] : [])].flatMap((part, at) => (at === 0 ? part : ['', ...part]));
};

interface Shown {
  readonly document: ViewDocument;
  readonly page: Page;
}

/** One document per line, after each change. */
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

/** Overwrites the screen line by line: clearing it first would flicker. */
const redraw =
  (screen: Screen) =>
  ({ page }: Shown): void => {
    const lines = pageLines(page, widthOf(screen), screen.style);
    writeRaw(screen.stdout, `${home}${lines.map((line) => `${escapeControls(line)}${restOfLine}\n`).join('')}${below}`);
  };

/** For a pipe or a log: the first tables, then a line for each row that is new, changed or deleted. */
export const changedLines = ({ stdout, style }: Screen) => {
  let last: ReadonlyMap<string, Row> | undefined;
  return ({ page }: Shown): void => {
    const rows = new Map(page.tables.flatMap((table) => table.rows.map((row) => [row.key, row] as const)));
    if (last === undefined) stdout.write(joinLines(pageLines(page, undefined, style)));
    else {
      const before = last;
      const isChanged = (row: Row): boolean => lastingCells(before.get(row.key)) !== lastingCells(row);
      for (const row of rows.values()) if (isChanged(row)) stdout.write(`${plainRow(row)}\n`);
      for (const row of before.values()) if (!rows.has(row.key)) stdout.write(`${printable(row.key)}   (gone)\n`);
    }
    last = rows;
  };
};

const lastingCells = (row: Row | undefined): string | undefined =>
  row && JSON.stringify(row.cells.filter((cell) => typeof cell === 'string' || cell.passing !== true));

const plainRow = ({ cells }: Row): string =>
  cells
    .map((cell) => textOf(cell) || '-')
    .join('   ')
    .trimEnd();
