import type { Writable } from 'node:stream';
import { drawOn, escapeControls } from '../../show/safe-output.ts';
import { lengthOf } from './fit-line.ts';

/** A terminal that somebody looks at. */
export type Tty = Writable & { readonly columns?: number; readonly rows?: number };

export const sizeOf = ({ columns, rows }: Tty): { columns: number; rows: number } => ({
  columns: columns || 80,
  rows: rows || 24,
});

/** Lines at the end of a terminal that are written over, again and again. What stands above them is left alone. */
export interface Frame {
  /** Writes `above` to stay, then the lines in place of those that were drawn last. */
  draw(lines: readonly string[], above?: readonly string[]): void;
  /** Gives the cursor back. */
  release(): void;
}

const up = (lines: number): string => (lines > 0 ? `\u001B[${lines}A` : '');
const restOfLine = '\u001B[K';
const restOfScreen = '\u001B[J';
const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
/** A letter that takes two columns makes a line longer than we count: it is to be cut, not continued where the next line goes. */
const cutLines = '\u001B[?7l';
const breakLines = '\u001B[?7h';

export const createFrame = (stdout: Tty): Frame => {
  let drawn: readonly string[] = [];
  let isHidden = false;
  return {
    draw: (lines, above = []) => {
      const toTop = up(heightOn(stdout, drawn));
      const kept =
        above.length === 0 ? '' : `${restOfScreen}${above.map((line) => `${escapeControls(line)}\n`).join('')}`;
      // Each line is cleared before it is written: afterwards that would take the last letter of one that fills its row.
      const text = lines.map((line) => `${restOfLine}${escapeControls(line)}\n`).join('');
      drawOn(stdout, `${isHidden ? '' : hideCursor}${toTop}${kept}${cutLines}${text}${restOfScreen}${breakLines}`);
      isHidden = true;
      drawn = lines;
    },
    release: () => {
      if (isHidden) drawOn(stdout, showCursor);
      isHidden = false;
    },
  };
};

/** Rows that lines take now: a terminal that has become narrower breaks those that it shows. The cursor stops at its top anyway. */
const heightOn = (stdout: Tty, lines: readonly string[]): number => {
  const { columns } = sizeOf(stdout);
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / columns)), 0);
};
