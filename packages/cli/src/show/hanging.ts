import { lettersOf, type Look, paint, printable, type Tone } from './look.ts';
import { type Cell, wrapped } from './table.ts';

const gap = 3;
/** Less room than that beside the columns, and the text goes below them. */
const leastRoom = 30;

const plain = (cell: Cell): string => printable(typeof cell === 'string' ? cell : cell.text);
const toneOf = (cell: Cell): Tone | undefined => (typeof cell === 'string' ? undefined : cell.tone);

export interface HangingRow {
  readonly columns: readonly Cell[];
  readonly text: string;
}

/** Columns, and beside them a text that is wrapped and never cut: for what people have to read to the end. */
export const hangingLines = (
  rows: readonly HangingRow[],
  { width, look, indent = '' }: { readonly width: number; readonly look: Look; readonly indent?: string },
): string[] => {
  const count = Math.max(0, ...rows.map(({ columns }) => columns.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(0, ...rows.map(({ columns }) => lettersOf(plain(columns[at] ?? '')).length)),
  );
  const used = widths.flatMap((size, at) => (size > 0 ? [at] : []));
  const left = indent.length + used.reduce((sum, at) => sum + (widths[at] ?? 0) + gap, 0);
  const beside = width - left >= leastRoom;
  return rows.flatMap(({ columns, text }) => {
    const head = used
      .map((at) => {
        const cell = columns[at] ?? '';
        const blanks = ' '.repeat((widths[at] ?? 0) - lettersOf(plain(cell)).length + gap);
        return `${paint(look, toneOf(cell), plain(cell))}${blanks}`;
      })
      .join('');
    if (text === '') return [`${indent}${head}`.trimEnd()];
    if (!beside) return [`${indent}${head}`.trimEnd(), ...wrapped(text, width, `${indent}    `)];
    const [first = '', ...more] = wrapped(text, width - left);
    return [`${indent}${head}${first}`, ...more.map((line) => `${' '.repeat(left)}${line}`)];
  });
};
