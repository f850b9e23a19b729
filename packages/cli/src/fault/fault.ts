import type { Simulation } from '@tartan/sim-fleet';

export interface FaultContext {
  readonly simulation: Simulation;
  /** Prints one line. */
  readonly report: (line: string) => void;
  /** Fires when the user stops the fault: it then repairs everything at once. */
  readonly signal: AbortSignal;
}

/** An incident that can be replayed on a simulated fleet. */
export interface Fault {
  readonly name: string;
  /** What goes wrong, in one line. */
  readonly title: string;
  /** Commands to watch it with, in another terminal. */
  readonly watch: readonly string[];
  /**
   * Breaks something, watches how Tartan reacts, and repairs the rest, also when the signal fires or an error occurs. Resolves with the
   * result and what an operator has to do. Rejects with `PrerequisiteError` if nothing was changed, and with another error if Tartan did not
   * react as expected.
   */
  run(context: FaultContext): Promise<string>;
}

/** The fault lacks something that it needs, and changed nothing. The message says what, and how to get it. */
export class PrerequisiteError extends Error {
  override readonly name = 'PrerequisiteError';
}
