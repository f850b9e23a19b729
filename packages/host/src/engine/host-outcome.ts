import type { CommandOutcome } from '../connection/connection.ts';
import type { DeferReason } from './execute-step.ts';
import type { Locked } from './lock.ts';
import type { PreflightFailure } from './preflight.ts';
import type { StepError } from './step-error.ts';
import type { Stamps } from './step-hash.ts';

/** Nothing is wrong with the host as far as we know, but what a command did there is unknown. Run it all again: that is always safe. */
export type Interrupted =
  | { readonly kind: 'connection lost'; readonly during: string; readonly cause: string }
  | { readonly kind: 'timed out'; readonly during: string; readonly after: number }
  | { readonly kind: 'aborted'; readonly during: string };

/** `during`: a step, or what else was being done. Input that fails here comes to the same: the host was left in the middle. */
export const interruptedBy = (
  outcome: Exclude<CommandOutcome, { kind: 'done' | 'command failed' }>,
  during: string,
): Interrupted => {
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

/** A step that would have changed something, and may not now. The host stays as it was, without the step's stamp. */
export interface Deferred {
  readonly step: string;
  readonly because: DeferReason;
}

/** What was done on the way, also when it ended badly. */
export interface Progress {
  readonly applied: readonly string[];
  readonly removed: readonly string[];
  readonly deferred: readonly Deferred[];
  /** Optional steps that failed: they cost only themselves. */
  readonly optionalFailures: readonly StepError[];
}

/** How an attempt to make a host as specified ended. Whatever it was: running it again is safe, and the way on. */
export type HostOutcome =
  | ({
      /** Every step that is neither deferred nor an optional failure bears its stamp, as read back from the host. */
      readonly kind: 'converged';
      readonly stamps: Stamps;
      /** Of the stamps: what the agent publishes. */
      readonly summary: string;
      readonly rebootPending: boolean;
    } & Progress)
  | ({ readonly kind: 'step failed'; readonly error: StepError } & Progress)
  | Locked
  /** Nothing was changed: no step can make this host ours. */
  | { readonly kind: 'unsuitable host'; readonly objections: readonly PreflightFailure[] }
  /** It answers, but not with what our scripts say. */
  | { readonly kind: 'unreadable host'; readonly cause: string }
  | (Interrupted & Progress);

/** What happens while it happens, for people. */
export type HostEvent =
  | { readonly kind: 'step started'; readonly step: string; readonly title: string }
  | { readonly kind: 'artifact started'; readonly step: string; readonly artifact: string; readonly size: number }
  | {
      readonly kind: 'artifact finished';
      readonly step: string;
      readonly artifact: string;
      readonly size: number;
      /** None, when the host had it. */
      readonly sent: number;
    }
  | {
      readonly kind: 'step finished';
      readonly step: string;
      readonly title: string;
      readonly result: StepResult | 'failed' | 'cut short';
      /** What was found to differ. */
      readonly differences: readonly string[];
      /** Milliseconds. */
      readonly durationMs: number;
    };

/** What a step's script says that it did. */
export type StepResult = 'unchanged' | 'applied' | 'removed' | 'deferred' | 'different';
