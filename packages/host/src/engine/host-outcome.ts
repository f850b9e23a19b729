import type { CommandOutcome } from '../connection/connection.ts';
import type { DeferReason } from './execute-step.ts';
import type { Locked } from './lock.ts';
import type { PreflightFailure } from './preflight.ts';
import type { StepError } from './step-error.ts';
import type { Stamps } from './step-hash.ts';

/** A command was cut short: what it did on the host is unknown. It is safe to run it again. */
export type Interrupted =
  | { readonly kind: 'connection lost'; readonly during: string; readonly cause: string }
  | { readonly kind: 'timed out'; readonly during: string; readonly after: number }
  | { readonly kind: 'aborted'; readonly during: string };

/** `during`: a step, or another command. An input that cannot be read locally also leaves the command unfinished. */
export const interruptedBy = (
  outcome: Exclude<CommandOutcome, { kind: 'done' | 'command failed' }>,
  during: string,
): Interrupted => {
  if (outcome.kind === 'input failed')
    return { kind: 'connection lost', during, cause: `the input could not be read: ${outcome.cause}` };
  const { stdout: _, stderr: __, ...interruption } = outcome;
  return { ...interruption, during };
};

/** A step that has something to change but may not do it now. It gets no stamp. */
export interface Deferred {
  readonly step: string;
  readonly reason: DeferReason;
}

export interface StepFailed {
  readonly kind: 'step failed';
  readonly error: StepError;
}

/** The host printed something that our scripts do not print. */
export interface UnreadableHost {
  readonly kind: 'unreadable host';
  readonly cause: string;
}

/** How a run over the steps of a host ended. It is safe to run it again after each of these. */
export type HostOutcome =
  | {
      /** Each step that is neither deferred nor an optional failure has its stamp, as read back from the host. */
      readonly kind: 'converged';
      readonly stamps: Stamps;
      /** Of the stamps: what the agent publishes. */
      readonly summary: string;
      readonly rebootPending: boolean;
      readonly deferred: readonly Deferred[];
      /** Optional steps that failed. */
      readonly optionalFailures: readonly StepError[];
    }
  | StepFailed
  | Locked
  /** Nothing was changed: no step can fix this host. */
  | { readonly kind: 'unsuitable host'; readonly objections: readonly PreflightFailure[] }
  | UnreadableHost
  | Interrupted;

/** The progress of a run, for people. */
export type HostEvent =
  | { readonly kind: 'step started'; readonly step: string; readonly title: string }
  | { readonly kind: 'artifact started'; readonly step: string; readonly artifact: string; readonly size: number }
  | {
      readonly kind: 'artifact finished';
      readonly step: string;
      readonly artifact: string;
      readonly size: number;
      /** In bytes. Zero: the host had it. */
      readonly sent: number;
    }
  | {
      readonly kind: 'step finished';
      readonly step: string;
      readonly title: string;
      readonly result: StepResult | 'failed' | 'cut short';
      readonly differences: readonly string[];
      readonly durationMs: number;
    };

/** The result line of a step's script. */
export type StepResult = 'unchanged' | 'applied' | 'removed' | 'deferred' | 'different';
