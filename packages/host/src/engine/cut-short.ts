import type { CommandOutcome } from '../connection/connection.ts';

/** Nothing is wrong with the host as far as we know, but what a command did there is unknown. Run it all again: that is always safe. */
export type CutShort =
  | { readonly kind: 'connection lost'; readonly during: string; readonly cause: string }
  | { readonly kind: 'timed out'; readonly during: string; readonly after: number }
  | { readonly kind: 'aborted'; readonly during: string };

/** `during`: a step, or what else was being done. Input that fails here comes to the same: the host was left in the middle. */
export const cutShort = (
  outcome: Exclude<CommandOutcome, { kind: 'done' | 'command failed' }>,
  during: string,
): CutShort => {
  switch (outcome.kind) {
    case 'connection lost':
      return { kind: 'connection lost', during, cause: outcome.cause };
    case 'timed out':
      return { kind: 'timed out', during, after: outcome.after };
    case 'aborted':
      return { kind: 'aborted', during };
    case 'input failed':
      return { kind: 'connection lost', during, cause: `the input could not be read: ${outcome.cause}` };
  }
};
