import type { Writable } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import { escapeControls, paint, type TextStyle, visibleLength, writeRaw } from '../../output/terminal-text.ts';
import { createPlainView } from './plain-view.ts';
import { emptyState, frameMs, type LiveState, render } from './render.ts';
import type { Step, UpView } from './up-view.ts';

export interface LiveViewOptions {
  readonly stdout: Tty;
  readonly style: TextStyle;
  readonly clock: Clock;
}

const maxLogLines = 300;

/**
 * Redraws after changes, and for the spinner while a step runs, at a limited rate. Nothing else may write to the terminal until the view
 * is stopped. The cursor is restored even if the process exits without that.
 */
export const createLiveView = ({ stdout, style, clock }: LiveViewOptions): UpView => {
  const frame = createFrame(stdout);
  const plainView = createPlainView({ stdout, style, clock });
  const began = clock.monotonic();
  const now = (): number => clock.monotonic() - began;
  let state: LiveState = emptyState;
  let due: (() => void) | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: string | undefined;

  const draw = (): void => {
    due?.();
    const isMoving = !state.isFinal && state.steps.some(({ doneAt }) => doneAt === undefined);
    due = isMoving ? clock.after(frameMs, draw) : undefined;
    drawnAt = now();
    const size = sizeOf(stdout);
    const lines = render(state, { ...size, style, now: drawnAt });
    const picture = JSON.stringify([size, lines]);
    if (picture === last) return;
    last = picture;
    frame.draw(lines);
  };
  const drawSoon = (): void => {
    due ??= clock.after(Math.max(0, drawnAt + frameMs - now()), draw);
  };
  const change = (news: Partial<LiveState>): void => {
    if (state.isFinal) return;
    state = { ...state, ...news };
    drawSoon();
  };
  const step = (text: string): Step => {
    const at = state.steps.length;
    change({ steps: [...state.steps, { text, doneAt: undefined }] });
    return {
      done: (words = text) => {
        if (state.isFinal) return plainView.step(words).done();
        change({ steps: state.steps.with(at, { text: words, doneAt: now() }) });
      },
    };
  };
  const stop = (): void => {
    if (state.isFinal) return;
    state = { ...state, isFinal: true };
    draw();
    frame.release();
    stdout.off('resize', drawSoon);
    process.off('exit', frame.release);
  };

  stdout.on('resize', drawSoon);
  process.once('exit', frame.release);
  return {
    paint: plainView.paint,
    writeLine: (line = '') => {
      if (state.isFinal) return plainView.writeLine(line);
      const lines = line.split('\n').filter((each) => each.trim() !== '');
      if (lines.length > 0) change({ log: [...state.log, ...lines].slice(-maxLogLines) });
    },
    step: (text) => (state.isFinal ? plainView.step(text) : step(text)),
    fleet: (fleet) => change({ fleet }),
    podLog: (title, lines) => change({ podLog: [paint(style, 'bold', title), ...lines.map((line) => `  ${line}`)] }),
    commands: (commands) => change({ commands }),
    keys: (keys) => change({ keys }),
    stop,
  };
};

type Tty = Writable & { readonly columns?: number; readonly rows?: number };

const sizeOf = ({ columns, rows }: Tty): { columns: number; rows: number } => ({
  columns: columns || 80,
  rows: rows || 24,
});

const cursorUp = (lines: number): string => (lines > 0 ? `\u001B[${lines}A` : '');
const restOfLine = '\u001B[K';
const restOfScreen = '\u001B[J';
const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
/** A character of two columns makes a line longer than counted: cut it instead of wrapping it. */
const cutLines = '\u001B[?7l';
const breakLines = '\u001B[?7h';

/** Lines at the end of a terminal that are overwritten. Lines above them stay. */
const createFrame = (stdout: Tty) => {
  let drawn: readonly string[] = [];
  let isHidden = false;
  return {
    /** Replaces the lines of the last call. */
    draw: (lines: readonly string[]): void => {
      const toTop = cursorUp(heightOn(stdout, drawn));
      // Cleared before it is written: afterwards this would delete the last character of a full row.
      const text = lines.map((line) => `${restOfLine}${escapeControls(line)}\n`).join('');
      writeRaw(stdout, `${isHidden ? '' : hideCursor}${toTop}${cutLines}${text}${restOfScreen}${breakLines}`);
      isHidden = true;
      drawn = lines;
    },
    /** Shows the cursor again. */
    release: (): void => {
      if (isHidden) writeRaw(stdout, showCursor);
      isHidden = false;
    },
  };
};

/** Rows of the lines: a terminal that has become narrower wraps them. */
const heightOn = (stdout: Tty, lines: readonly string[]): number => {
  const { columns } = sizeOf(stdout);
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(visibleLength(line) / columns)), 0);
};
