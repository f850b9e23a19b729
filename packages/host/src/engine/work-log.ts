import type { Redactor } from '@tartan/kube';
import type { StepOutcome } from './execute-step.ts';
import type { Deferred, HostOutcome, Work } from './host-outcome.ts';
import type { Action } from './plan.ts';
import { StepError } from './step-error.ts';

/** Collects what was done to a host, and says when an outcome ends the run. */
export interface WorkLog {
  /** The outcome of the whole run, if it ends here. */
  record(action: Action, outcome: StepOutcome, redact: Redactor): HostOutcome | undefined;
  failedOptionally(error: StepError): void;
  /** Deferred, or failed without failing the host: no stamp is expected of it. */
  isUnfinished(step: string): boolean;
  /** Nothing was deferred, nothing failed. */
  isWhole(): boolean;
  done(): Work;
}

export const createWorkLog = (): WorkLog => {
  const applied: string[] = [];
  const removed: string[] = [];
  const deferred: Deferred[] = [];
  const optionalFailures: StepError[] = [];
  const done = (): Work => ({ applied, removed, deferred, optionalFailures });
  return {
    done,
    failedOptionally: (error) => optionalFailures.push(error),
    isUnfinished: (step) => [...deferred, ...optionalFailures].some((each) => each.step === step),
    isWhole: () => deferred.length === 0 && optionalFailures.length === 0,
    record: ({ step, obstacle }, outcome, redact) => {
      switch (outcome.kind) {
        case 'finished':
          if (outcome.result === 'applied') applied.push(step.name);
          if (outcome.result === 'removed') removed.push(step.name);
          if (outcome.result === 'deferred' && obstacle !== undefined)
            deferred.push({ step: step.name, because: obstacle });
          return undefined;
        case 'failed':
          // Without the lock nothing else may be done either.
          if (step.optional !== true || outcome.error.failure === 'lock lost') {
            return { kind: 'step failed', error: outcome.error, ...done() };
          }
          optionalFailures.push(outcome.error);
          return undefined;
        case 'timed out':
          if (step.optional !== true) return { ...outcome, ...done() };
          optionalFailures.push(
            new StepError(step, { failure: 'timed out', said: `${outcome.after / 1000} seconds` }, redact),
          );
          return undefined;
        case 'connection lost':
        case 'aborted':
          return { ...outcome, ...done() };
      }
    },
  };
};
