import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import type { Terminal } from './host/ask-secret.ts';

/** kubectl runs an executable named `kubectl-tartan` for `kubectl tartan`: whoever typed that reads it in every help text. */
export const commandNameOf = (file: string): string =>
  /^kubectl-tartan(?:\.[a-z]+)?$/.test(basename(file)) ? 'kubectl tartan' : 'tartan';

/** What a command has to do with the outside. */
export interface ProcessContext {
  readonly stdin: Terminal['input'];
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Fires when somebody wants it to end. */
  readonly signal: AbortSignal;
}

/** What a command is given to live in. What it writes is escaped (`safeOutput`). */
export interface Shell extends ProcessContext {
  /** What people typed to get here: `tartan`, or `kubectl tartan`. */
  readonly commandName: string;
  /** Runs a command of ours: answers the exit code, or rejects with a sentence for people, which ends with `failed`, or 2. */
  readonly run: (name: string, command: () => Promise<number>, failed?: number) => Promise<void>;
}

/** Texts say `tartan fleet`; whoever typed `kubectl tartan` reads that instead. */
export const withCommandName = (commandName: string, text: string): string =>
  commandName === 'tartan' ? text : text.replaceAll(/(?<![\w./-]|kubectl )tartan (?=[a-z]+\b)/g, `${commandName} `);
