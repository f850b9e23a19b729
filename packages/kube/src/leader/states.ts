import type { Ending, Term } from './term.ts';

/**
 * Which state may follow which. docs/leader-election.md draws the same picture (a test compares them), the types of the steps hold
 * the code to it, and the tests walk every arrow.
 */
export const transitions = {
  following: ['leading', 'releasing', 'stopped'],
  leading: ['draining', 'yielding', 'releasing'],
  draining: ['yielding', 'releasing', 'lost'],
  yielding: ['following', 'stopped', 'lost'],
  releasing: ['stopped'],
  stopped: [],
  lost: [],
} as const;

type StateName = keyof typeof transitions;

export type State =
  /** Does not lead. Looks at the Lease every retry period and takes it when it is free. */
  | { name: 'following' }
  /** `lead` runs, the lease is renewed every retry period, the gate is open. */
  | { name: 'leading'; term: Term }
  /**
   * We were told to stop, and so was `lead`. Until it has ended the lease is renewed and the gate stays open: it can finish what it
   * began, and nobody else starts meanwhile.
   */
  | { name: 'draining'; term: Term }
  /** The lease is lost, or could not be renewed in time. The gate is closed; `lead` was told to end and is waited for. */
  | { name: 'yielding'; term: Term; why: string }
  /** `lead` has ended or never began. The gate is closed, the lease is given back. */
  | { name: 'releasing'; term?: Term; ending: Ending }
  /** The end: nothing of ours runs. */
  | { name: 'stopped'; ending: Ending }
  /** The end: `lead` did not end when told to. It may still run, behind a closed gate; the process must end. */
  | { name: 'lost' };

export type StateOf<N extends StateName> = Extract<State, { name: N }>;

/** What may follow a state. */
export type After<N extends StateName> = StateOf<(typeof transitions)[N][number]>;
