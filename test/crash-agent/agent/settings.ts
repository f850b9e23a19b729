/** What becomes of an agent at one point. */
export type Mode =
  /** The effect has happened, and nobody heard of it. */
  | 'killed after'
  /** Only of a call of tart: it has begun, and goes on alone. */
  | 'killed during';

/** The n-th effect of that name that one agent has, counted from 1. */
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

/** Everything that an agent is told when it starts. */
export interface AgentSettings {
  /** Of the whole Mac. */
  readonly folder: string;
  readonly nodeName: string;
  readonly server: { readonly url: string; readonly ca: string; readonly cert: string; readonly key: string };
  readonly tart: { readonly path: string; readonly home: string };
  readonly collects: boolean;
  /** How far time has leapt in this scenario: agents of one Mac have one clock. */
  readonly leaptMs: number;
  /** Virtual machines whose files somebody has open. */
  readonly openVms: readonly string[];
  /** A file that every effect is written to, when it begins. */
  readonly points: string;
  readonly fault?: Fault | undefined;
}

export const settingsVariable = 'TARTAN_CRASH_AGENT';

/** What the harness says to an agent. */
export interface ClockAdvance {
  readonly leapMs: number;
}
