import { paint, type TextStyle, type Tone } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';

/** Lines of `tartan up`, with colours only on a terminal. */
export interface StyledLog {
  writeLine(line?: string): void;
  paint(tone: Tone, text: string): string;
}

export const createStyledLog = (write: (line: string) => unknown, style: TextStyle): StyledLog => ({
  writeLine: (line = '') => void write(line),
  paint: (tone, text) => paint(style, tone, text),
});

/** What `tartan up` shows: redrawn in place on a terminal, line by line elsewhere. */
export interface UpView extends StyledLog {
  step(text: string): Step;
  /** Machines and Macs, as `tartan fleet` shows them. */
  fleet(page: Page): void;
  /** The first lines of a Pod's log, apart from events. */
  podLog(title: string, lines: readonly string[]): void;
  /** Commands for another terminal. A live view shows them until it stops, the first ones also in few rows. */
  commands(commands: readonly SuggestedCommand[]): void;
  /** Which keys do what. */
  keys(text: string): void;
  /** Keeps what was drawn last; later output is written as plain lines. May be called twice. */
  stop(): void;
}

export interface SuggestedCommand {
  readonly command: string;
  readonly comment?: string;
}

export interface Step {
  done(text?: string): void;
}

/** Lines to copy commands from. A command wider than `columns` is continued behind a backslash, so that a shell takes it whole. */
export const commandLines = (
  commands: readonly SuggestedCommand[],
  style: TextStyle,
  columns = Number.POSITIVE_INFINITY,
): string[] => {
  const width = commands.reduce(
    (widest, { command: { length }, comment }) =>
      comment === undefined || length > columns ? widest : Math.max(widest, length),
    0,
  );
  const lines = commands.flatMap(({ command, comment }) => {
    if (command.length > columns) return brokenCommand(command, Math.max(1, columns - 1));
    return comment === undefined ? command : `${command.padEnd(width)}   ${paint(style, 'dim', `# ${comment}`)}`;
  });
  return lines.length === 0 ? [] : [paint(style, 'bold', 'In another terminal:'), ...lines];
};

const brokenCommand = (command: string, width: number): string[] =>
  command.length <= width + 1
    ? [command]
    : [`${command.slice(0, width)}\\`, ...brokenCommand(command.slice(width), width)];

/** A finished step, and when it finished. */
export const doneLine = (text: string, milliseconds: number, style: TextStyle): string =>
  `${paint(style, 'good', '✓')} ${text} ${paint(style, 'dim', secondsAfter(milliseconds))}`;

/** A running step. */
export const openLine = (mark: string, text: string, milliseconds: number, style: TextStyle): string =>
  `${mark} ${text} ${paint(style, 'dim', secondsAfter(milliseconds))}`;

const secondsAfter = (milliseconds: number): string => `(${(milliseconds / 1000).toFixed(1)} s)`;
