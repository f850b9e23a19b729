import { fitLine, paint, type TextStyle } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';
import type { MacProgress } from './mac-progress.ts';
import { fleetHeight, fleetLines, progressLines } from './sections.ts';
import { doneLine, openLine } from './up-view.ts';

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
  readonly isFinal: boolean;
}

interface ShownStep {
  readonly text: string;
  /** Milliseconds from the start; undefined while it is under way. */
  readonly doneAt: number | undefined;
}

export const emptyState: LiveState = { steps: [], macs: [], fleet: undefined, log: [], keys: '', isFinal: false };

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly style: TextStyle;
  /** Milliseconds from the start. */
  readonly now: number;
}

interface Section {
  readonly desired: number;
  readonly minimum: number;
  readonly lines: (room: number) => readonly string[];
}

/** Below so many rows every line counts, and sections stand without a blank line between them. */
const minRowsForGaps = 16;
const spinner = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏');
export const frameMs = 125;

/** The whole view, as lines that fit: none wider than the terminal, and one less than it has rows. Pure and total. */
export const render = (state: LiveState, canvas: Canvas): string[] => {
  const { columns, rows, style } = canvas;
  const [steps, macs, fleet, log, keys] = sectionsOf(state, canvas);
  const inOrder = [steps, macs, fleet, log, keys];
  // The cursor stands below the last line.
  const room = Math.max(1, rows - 1);
  const blanks = rows < minRowsForGaps ? 0 : Math.max(0, inOrder.filter(({ desired }) => desired > 0).length - 1);
  // First come keys, since nobody finds the way out without them; last comes the log, which takes what is left.
  const byWeight = [keys, macs, fleet, steps, log];
  const given = allocateLines(byWeight, room - blanks);
  const parts = inOrder
    .map((section) => section.lines(given[byWeight.indexOf(section)] ?? 0))
    .filter((lines) => lines.length > 0);
  return parts
    .flatMap((lines, at) => (at === 0 || blanks === 0 ? lines : ['', ...lines]))
    .map((line) => fitLine(line, columns, style));
};

const sectionsOf = (
  { steps, macs, fleet, log, keys, isFinal }: LiveState,
  { columns, style, now }: Canvas,
): [Section, Section, Section, Section, Section] => {
  const coming = macs.filter(({ isUp }) => !isUp);
  // Before anyone is up a table would only say in other words what the bars say.
  const page = coming.length > 0 && coming.length === macs.length ? undefined : fleet;
  const mark = isFinal ? '·' : (spinner[Math.floor(now / frameMs) % spinner.length] ?? '');
  const stepLines = steps.map(({ text, doneAt }) =>
    doneAt === undefined ? openLine(mark, text, now, style) : doneLine(text, doneAt, style),
  );
  const keyLines = isFinal || keys === '' ? [] : keys.split('\n').map((line) => paint(style, 'dim', line));
  const paper = { columns, style };
  return [
    latestLines(stepLines, 1),
    { desired: coming.length, minimum: 3, lines: (room) => progressLines(coming, room, paper) },
    {
      desired: page === undefined ? 0 : fleetHeight(page, paper),
      minimum: 5,
      lines: (room) => (page === undefined ? [] : fleetLines(page, room, paper)),
    },
    latestLines(log, 3),
    latestLines(keyLines, 1),
  ];
};

const latestLines = (lines: readonly string[], minimum: number): Section => ({
  desired: lines.length,
  minimum,
  lines: (room) => lines.slice(lines.length - Math.min(room, lines.length)),
});

/** A part of the screen that asks for room. */
interface LineRequest {
  /** Lines that it would fill. */
  readonly desired: number;
  /** Lines that it gets before others get more than theirs. */
  readonly minimum: number;
}

/** Shares lines out, the most important first: what each needs at least, then what is left. Answers one number for each. Pure. */
const allocateLines = (wishes: readonly LineRequest[], room: number): number[] => {
  let left = Math.max(0, room);
  const take = (lines: number): number => {
    const taken = Math.max(0, Math.min(lines, left));
    left -= taken;
    return taken;
  };
  const first = wishes.map(({ desired, minimum }) => take(Math.min(desired, minimum)));
  return first.map((given, at) => given + take((wishes[at]?.desired ?? 0) - given));
};
