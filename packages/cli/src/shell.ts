import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import type { Terminal } from './host/ask-secret.ts';

/** kubectl runs an executable named `kubectl-tartan` for `kubectl tartan`. */
export const commandNameOf = (file: string): string =>
  /^kubectl-tartan(?:\.[a-z]+)?$/.test(basename(file)) ? 'kubectl tartan' : 'tartan';

export interface ProcessContext {
  readonly stdin: Terminal['input'];
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Fires when the command is to stop. */
  readonly signal: AbortSignal;
}

/** What a command runs with. Its output is escaped by `escapingStream`. */
export interface Shell extends ProcessContext {
  /** As typed: `tartan`, or `kubectl tartan`. */
  readonly commandName: string;
  /** Runs a command that returns an exit code; an error is printed, and the exit code is `failed` (2). */
  readonly run: (name: string, command: () => Promise<number>, failed?: number) => Promise<void>;
}

/** Nothing was done, for a reason that the help of the command lists: exit code 1. */
export class NotDoneError extends Error {
  override readonly name = 'NotDoneError';
}

/** Replaces `tartan fleet` with `kubectl tartan fleet` where that was typed. */
export const withCommandName = (commandName: string, text: string): string =>
  commandName === 'tartan' ? text : text.replaceAll(/(?<![\w./-]|kubectl )tartan (?=[a-z]+\b)/g, `${commandName} `);
