import { fitLine, paint, type TextStyle } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';
import { fleetHeight, fleetLines } from './sections.ts';
import { commandLines, doneLine, openLine, type SuggestedCommand } from './up-view.ts';

/** All that the view shows. */
export interface LiveState {
  readonly steps: readonly ShownStep[];
  /** Undefined: not read yet. */
  readonly fleet: Page | undefined;
  readonly podLog: readonly string[];
  /** Events, the oldest first. */
  readonly log: readonly string[];
  readonly commands: readonly SuggestedCommand[];
  readonly keys: string;
  /** The last frame: no spinner, no key hints, no commands. */
  readonly isFinal: boolean;
}

interface ShownStep {
  readonly text: string;
  /** Milliseconds from the start; undefined while it runs. */
  readonly doneAt: number | undefined;
}

export const emptyState: LiveState = {
  steps: [],
  fleet: undefined,
  podLog: [],
  log: [],
  commands: [],
  keys: '',
  isFinal: false,
};

export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly style: TextStyle;
  /** Milliseconds from the start. */
  readonly now: number;
}

interface Section {
  /** Lines that it would fill. */
  readonly desired: number;
  /** Lines that it gets before others get more than their minimum. */
  readonly minimum: number;
  readonly lines: (room: number) => readonly string[];
}

/** With fewer rows there are no blank lines between sections. */
const minRowsForGaps = 16;
const spinner = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏');
export const frameMs = 125;

/** The whole view, as lines that fit: none wider than the terminal, and one less than it has rows. Pure and total. */
export const render = (state: LiveState, canvas: Canvas): string[] => {
  const { columns, rows, style } = canvas;
  const { steps, fleet, podLog, log, commands, keys } = sectionsOf(state, canvas);
  const inOrder = [steps, fleet, podLog, log, commands, keys];
  // The cursor stands below the last line.
  const room = Math.max(1, rows - 1);
  const blanks = rows < minRowsForGaps ? 0 : Math.max(0, inOrder.filter(({ desired }) => desired > 0).length - 1);
  // The most important first.
  const byPriority = [keys, commands, fleet, podLog, steps, log];
  const given = allocateLines(byPriority, room - blanks);
  const parts = inOrder
    .map((section) => section.lines(given[byPriority.indexOf(section)] ?? 0))
    .filter((lines) => lines.length > 0);
  return parts
    .flatMap((lines, at) => (at === 0 || blanks === 0 ? lines : ['', ...lines]))
    .map((line) => fitLine(line, columns, style));
};

const sectionsOf = (
  { steps, fleet, podLog, log, commands, keys, isFinal }: LiveState,
  { columns, style, now }: Canvas,
) => {
  const mark = isFinal ? '·' : (spinner[Math.floor(now / frameMs) % spinner.length] ?? '');
  const stepLines = steps.map(({ text, doneAt }) =>
    doneAt === undefined ? openLine(mark, text, now, style) : doneLine(text, doneAt, style),
  );
  const keyLines = isFinal || keys === '' ? [] : keys.split('\n').map((line) => paint(style, 'dim', line));
  const firstCommand = commandLines(commands.slice(0, 1), style, columns).length;
  const paper = { columns, style };
  return {
    steps: latestLines(stepLines, 1),
    fleet: {
      desired: fleet === undefined ? 0 : fleetHeight(fleet, paper),
      minimum: 5,
      lines: (room: number) => (fleet === undefined ? [] : fleetLines(fleet, room, paper)),
    },
    podLog: firstLines(podLog, 0),
    log: latestLines(log, 3),
    commands: firstLines(isFinal ? [] : commandLines(commands, style, columns), firstCommand),
    keys: latestLines(keyLines, 1),
  };
};

const firstLines = (lines: readonly string[], minimum: number): Section => ({
  desired: lines.length,
  minimum,
  lines: (room) => lines.slice(0, room),
});

const latestLines = (lines: readonly string[], minimum: number): Section => ({
  desired: lines.length,
  minimum,
  lines: (room) => lines.slice(lines.length - Math.min(room, lines.length)),
});

/** Shares lines out, the most important section first: each its minimum, then what is left. Pure. */
const allocateLines = (sections: readonly Section[], room: number): number[] => {
  let left = Math.max(0, room);
  const take = (lines: number): number => {
    const taken = Math.max(0, Math.min(lines, left));
    left -= taken;
    return taken;
  };
  const first = sections.map(({ desired, minimum }) => take(Math.min(desired, minimum)));
  return first.map((given, at) => given + take((sections[at]?.desired ?? 0) - given));
};
