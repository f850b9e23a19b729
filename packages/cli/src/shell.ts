import type { Writable } from 'node:stream';
import type { Terminal } from './host/ask-secret.ts';

/** What a command has to do with the outside. */
export interface Surroundings {
  readonly stdin: Terminal['input'];
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Fires when somebody wants it to end. */
  readonly signal: AbortSignal;
}

/** What a command is given to live in. What it writes is escaped (`safeOutput`). */
export interface Shell extends Surroundings {
  /** What people typed to get here: `tartan`, or `kubectl tartan`. */
  readonly calledAs: string;
  /** Runs a command of ours: answers the exit code, or rejects with a sentence for people, which ends with `failed`, or 2. */
  readonly run: (name: string, command: () => Promise<number>, failed?: number) => Promise<void>;
}

/** Texts say `tartan fleet`; whoever typed `kubectl tartan` reads that instead. */
export const inTheWordsOf = (calledAs: string, text: string): string =>
  calledAs === 'tartan' ? text : text.replaceAll(/(?<![\w./-]|kubectl )tartan (?=[a-z]+\b)/g, `${calledAs} `);
