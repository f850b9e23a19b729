import type { Change } from './changes.ts';

/** A test, by where it stands and by the title that is written there. */
export interface ShownBy {
  /** From the root of the repository. */
  readonly file: string;
  /** As a string literal in that file; of tests that a table makes, the title of their `describe`. */
  readonly title: string;
}

/** One thing that the system must do. */
export interface Row {
  readonly id: string;
  readonly title: string;
  /** What asks for it. */
  readonly changes: readonly [Change, ...Change[]];
  /** Each goes red when the behaviour is taken away. */
  readonly tests: readonly ShownBy[];
  /** What is still missing: all of it where there is no test, else the rest. */
  readonly open?: string;
}

export interface Chapter {
  readonly letter: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Requirements {
  readonly chapters: readonly Chapter[];
  /** How many rows each chapter has, so that the last one cannot be lost either. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Exactly the rows that say what is open. It only ever gets shorter. */
  readonly mayBeOpen: readonly string[];
}

/** The text of a file, by its path from the root of the repository. */
export type ReadFile = (path: string) => string | undefined;
