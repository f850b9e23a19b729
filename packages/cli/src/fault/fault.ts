import type { Simulation } from '../simulation/simulation.ts';

/** Where a fault is played. */
export interface FaultContext {
  readonly simulation: Simulation;
  /** One plain line for whoever watches. */
  readonly report: (line: string) => void;
  /** Fires when nobody wants to see the rest: then it is mended at once. */
  readonly signal: AbortSignal;
}

/** An incident that has happened to somebody, told again on a simulated fleet. */
export interface Fault {
  readonly name: string;
  /** What goes wrong, as it did then, in one line. */
  readonly title: string;
  /** Commands to watch it with, in another terminal. */
  readonly watch: readonly string[];
  /**
   * Breaks something, follows what Tartan does about it, and mends whatever Tartan cannot, also when the signal fires or it rejects.
   * Resolves with how it ended and what a person would do; rejects with `CannotPlay` before anything was changed, and with any other
   * error when it did not end as it should.
   */
  play(scene: FaultContext): Promise<string>;
}

/** Something that the fault needs is not there, and nothing was changed. The message says what, and how to get it. */
export class CannotPlay extends Error {
  override readonly name = 'CannotPlay';
}
