import type { RunnerRecord } from '../runners/runner.ts';

/** A job that a workflow asks for. */
export interface JobWanted {
  /** `acme/app`. */
  readonly repository: string;
  /** Those of `runs-on`: a runner must have all of them. */
  readonly labels: readonly string[];
  /** Name of the runner group of `runs-on`. */
  readonly group?: string;
  readonly name?: string;
  /** Of a run that is there already; a run of its own unless told. */
  readonly runID?: number;
}

export interface JobRecord extends JobWanted {
  readonly id: number;
  readonly runID: number;
  readonly name: string;
  readonly queuedAt: number;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | undefined;
  startedAt: number | undefined;
  completedAt: number | undefined;
  /** To which it was given, also before it has said that it began. */
  runner: RunnerRecord | undefined;
  /** Its runner was not heard of again. */
  lost: boolean;
}

/** "Routing precedence for self-hosted runners": no runner has come within a day. */
export const longestInQueue = 24 * 3_600_000;
/** The same: a runner that does not begin within that loses the job to others. */
export const longestUntilPickedUp = 60_000;
/** Runners renew every minute, and are believed for ten (`actions/runner#3539`, `#4703`). */
export const lease = 10 * 60_000;
