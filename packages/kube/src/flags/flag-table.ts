import type { Flag } from './flag.ts';

/** All that a program can be told by its arguments and its environment. */
export interface FlagTable {
  /** In the order of the help and the docs. */
  readonly groups: readonly FlagGroup[];
  readonly rules: readonly Rule[];
  readonly removed?: readonly RemovedFlag[];
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly Flag<unknown>[];
}

/** The value of a flag, its default if it was not given. */
export type Read = <T>(flag: Flag<T>) => T;

/** Something that must hold between flags. */
export interface Rule {
  /** For the docs. */
  readonly says: string;
  /** Which flags it reads. When the value of one cannot be understood, the rule has nothing to say. */
  readonly reads: readonly Flag<unknown>[];
  /** What is wrong, and what to do. */
  problem(read: Read): string | undefined;
}

/** A flag of another system that has no meaning here. It is told apart from a typing error, so that its chart fails with a text that helps. */
export interface RemovedFlag {
  readonly name: string;
  readonly env: string | undefined;
  /** Completes: `removed: …`. */
  readonly because: string;
}
