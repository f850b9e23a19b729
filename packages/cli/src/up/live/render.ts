import { type Look, paint } from '../../show/look.ts';
import type { Page } from '../../show/view.ts';
import { allot } from './allot.ts';
import { fitLine } from './fit-line.ts';
import { fleetHeight, fleetLines } from './fleet-lines.ts';
import { macLines } from './mac-lines.ts';
import type { MacProgress } from './mac-progress.ts';
import { doneLine, openLine } from './step-line.ts';

/** All that the view shows. */
export interface LiveState {
  readonly steps: readonly ShownStep[];
  readonly macs: readonly MacProgress[];
  /** Undefined: nobody has looked yet. */
  readonly fleet: Page | undefined;
  /** The oldest first. */
  readonly log: readonly string[];
  readonly keys: string;
  /** What is drawn now is drawn for good: nothing moves any more, and no key is heard. */
  readonly isLast: boolean;
}

interface ShownStep {
  readonly text: string;
  /** Milliseconds from the start; undefined while it is under way. */
  readonly doneAt: number | undefined;
}

export const emptyState: LiveState = { steps: [], macs: [], fleet: undefined, log: [], keys: '', isLast: false };

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly look: Look;
  /** Milliseconds from the start. */
  readonly now: number;
}

interface Section {
  readonly wants: number;
  readonly least: number;
  readonly lines: (room: number) => readonly string[];
}

/** Below so many rows every line counts, and sections stand without a blank line between them. */
const tight = 16;
const spinner = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏');
export const frameMs = 125;

/** The whole view, as lines that fit: none wider than the terminal, and one less than it has rows. Pure and total. */
export const render = (state: LiveState, canvas: Canvas): string[] => {
  const { columns, rows, look } = canvas;
  const [steps, macs, fleet, log, keys] = sectionsOf(state, canvas);
  const inOrder = [steps, macs, fleet, log, keys];
  // The cursor stands below the last line.
  const room = Math.max(1, rows - 1);
  const blanks = rows < tight ? 0 : Math.max(0, inOrder.filter(({ wants }) => wants > 0).length - 1);
  // First come keys, since nobody finds the way out without them; last comes the log, which takes what is left.
  const byWeight = [keys, macs, fleet, steps, log];
  const given = allot(byWeight, room - blanks);
  const parts = inOrder
    .map((section) => section.lines(given[byWeight.indexOf(section)] ?? 0))
    .filter((lines) => lines.length > 0);
  return parts
    .flatMap((lines, at) => (at === 0 || blanks === 0 ? lines : ['', ...lines]))
    .map((line) => fitLine(line, columns, look));
};

const sectionsOf = (
  { steps, macs, fleet, log, keys, isLast }: LiveState,
  { columns, look, now }: Canvas,
): [Section, Section, Section, Section, Section] => {
  const coming = macs.filter(({ isUp }) => !isUp);
  // Before anyone is up a table would only say in other words what the bars say.
  const page = coming.length > 0 && coming.length === macs.length ? undefined : fleet;
  const mark = isLast ? '·' : (spinner[Math.floor(now / frameMs) % spinner.length] ?? '');
  const stepLines = steps.map(({ text, doneAt }) =>
    doneAt === undefined ? openLine(mark, text, now, look) : doneLine(text, doneAt, look),
  );
  const keyLines = isLast || keys === '' ? [] : keys.split('\n').map((line) => paint(look, 'dim', line));
  const paper = { columns, look };
  return [
    latest(stepLines, 1),
    { wants: coming.length, least: 3, lines: (room) => macLines(coming, room, paper) },
    {
      wants: page === undefined ? 0 : fleetHeight(page, paper),
      least: 5,
      lines: (room) => (page === undefined ? [] : fleetLines(page, room, paper)),
    },
    latest(log, 3),
    latest(keyLines, 1),
  ];
};

const latest = (lines: readonly string[], least: number): Section => ({
  wants: lines.length,
  least,
  lines: (room) => lines.slice(lines.length - Math.min(room, lines.length)),
});
