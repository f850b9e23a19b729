/** What happens to an agent at one point. */
export type Mode =
  /** The effect has happened, but the agent has not seen the result. */
  | 'killed after'
  /** Only for a tart call: it has started, and continues alone. */
  | 'killed during';

/** The n-th effect of that name in one agent, counted from 1. */
export interface Point {
  readonly name: string;
  readonly nth: number;
  readonly modes: readonly Mode[];
}

export interface Fault {
  readonly name: string;
  readonly nth: number;
  readonly mode: Mode;
}

/** The settings of an agent. */
export interface AgentSettings {
  /** Of the whole Mac. */
  readonly folder: string;
  readonly nodeName: string;
  readonly server: { readonly url: string; readonly ca: string; readonly cert: string; readonly key: string };
  readonly tart: { readonly path: string; readonly home: string };
  readonly collects: boolean;
  /** How far the clock was advanced in this scenario: the agents of one Mac share one clock. */
  readonly clockOffsetMs: number;
  /** Virtual machines with open files. */
  readonly openVms: readonly string[];
  /** The file in which every effect is recorded at its start. */
  readonly points: string;
  readonly fault?: Fault | undefined;
}

export const settingsVariable = 'TARTAN_CRASH_AGENT';

/** A message from the harness to an agent. */
export interface ClockAdvance {
  readonly advanceMs: number;
}
