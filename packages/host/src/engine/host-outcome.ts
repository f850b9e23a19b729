import type { CutShort } from './cut-short.ts';
import type { Locked } from './lock.ts';
import type { Objection } from './pre-flight.ts';
import type { StepError } from './step-error.ts';
import type { Obstacle } from './step-run.ts';
import type { Stamps } from './summary.ts';

/** A step that would have changed something, and may not now. The host stays as it was, without the step's stamp. */
export interface Deferred {
  readonly step: string;
  readonly because: Obstacle;
}

/** What was done on the way, also when it ended badly. */
export interface Work {
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
    } & Work)
  | ({ readonly kind: 'step failed'; readonly error: StepError } & Work)
  | Locked
  /** Nothing was changed: no step can make this host ours. */
  | { readonly kind: 'unsuitable host'; readonly objections: readonly Objection[] }
  /** It answers, but not with what our scripts say. */
  | { readonly kind: 'unreadable host'; readonly cause: string }
  | (CutShort & Work);

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
      readonly took: number;
    };

/** What a step's script says that it did. */
export type StepResult = 'unchanged' | 'applied' | 'removed' | 'deferred' | 'different';
