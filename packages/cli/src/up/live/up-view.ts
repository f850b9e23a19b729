import type { Writable } from 'node:stream';
import { paint, type TextStyle } from '../../output/terminal-text.ts';
import type { Page } from '../../output/view.ts';
import type { MacProgress } from './mac-progress.ts';

/** How `tartan up` talks to a person: plain lines, with colours only where somebody sees them. */
export interface StyledLog {
  writeLine(line?: string): void;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

export const createStyledLog = (stdout: Writable, { colours }: { readonly colours: boolean }): StyledLog => {
  const paint =
    (code: number) =>
    (text: string): string =>
      colours ? `\u001B[${code}m${text}\u001B[0m` : text;
  return {
    writeLine: (line = '') => void stdout.write(`${line}\n`),
    bold: paint(1),
    dim: paint(2),
    good: paint(32),
    bad: paint(33),
  };
};

/** What `tartan up` shows: redrawn in place on a terminal, line by line elsewhere. */
export interface UpView extends StyledLog {
  /** Above everything else, and whole however long it is: for what people copy. Elsewhere a line like any other. */
  print(line?: string): void;
  /** Something has begun. */
  step(text: string): Step;
  /** How far each machine is; all of them, each time. */
  progress(macs: readonly MacProgress[]): void;
  /** Machines and Macs, as `tartan fleet` shows them. */
  fleet(page: Page): void;
  /** What people can do now, at the very end; lines are parted by `\n`. Only where they stay in sight. */
  keys(text: string): void;
  /** What was drawn last stays. Whatever is said from then on is written as plain lines. May be called twice. */
  stop(): void;
}

export interface Step {
  /** It is there, in other words if told. Only the first call counts. */
  done(text?: string): void;
}

/** Something that is there, and how long after the start. */
export const doneLine = (text: string, milliseconds: number, style: TextStyle): string =>
  `${paint(style, 'good', '✓')} ${text} ${paint(style, 'dim', secondsAfter(milliseconds))}`;

/** The same of what is under way. */
export const openLine = (mark: string, text: string, milliseconds: number, style: TextStyle): string =>
  `${mark} ${text} ${paint(style, 'dim', secondsAfter(milliseconds))}`;

const secondsAfter = (milliseconds: number): string => `(${(milliseconds / 1000).toFixed(1)} s)`;
