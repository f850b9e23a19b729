import { type Clock, systemClock } from '@tartan/kube/clock';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSpec, Preparation } from '../host-spec.ts';
import { stepsOf } from '../steps/index.ts';
import type { AnyStep } from '../steps/step.ts';
import { executeStep, stepErrorOf, type StepOutcome, stepRun } from './execute-step.ts';
import type { Interrupted, UnreadableHost } from './host-outcome.ts';
import { type Inventory, readInventory } from './inventory.ts';
import { plan } from './plan.ts';
import { preflight, type PreflightFailure } from './preflight.ts';
import { hostRedactor } from './redaction.ts';
import { StepError } from './step-error.ts';

/** The result of checking one step. */
export interface StepReport {
  readonly step: string;
  readonly title: string;
  /** `could not look`: `error` says why. */
  readonly state: 'as wanted' | 'different' | 'could not look';
  readonly differences: readonly string[];
  readonly error?: StepError;
  /** The stamp on the host: of the desired state, of another one, or none. */
  readonly stamp: 'current' | 'other' | 'none';
}

export type CheckOutcome =
  | {
      readonly kind: 'checked';
      readonly inventory: Inventory;
      readonly objections: readonly PreflightFailure[];
      readonly steps: readonly StepReport[];
    }
  | UnreadableHost
  | Interrupted;

interface CheckOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly onStep?: (report: StepReport) => void;
  /** Default: those of the specification. */
  readonly steps?: readonly AnyStep[];
}

/**
 * Compares a host with its specification.
 *
 * Guarantees: changes nothing, takes no lock, sends no secret and no artifact. A step that cannot be checked does not stop the others.
 */
export const checkHost = async (
  connection: HostConnection,
  spec: HostSpec | Preparation,
  { clock = systemClock, signal, onStep, steps = stepsOf(spec) }: CheckOptions = {},
): Promise<CheckOutcome> => {
  const redact = hostRedactor({});
  const read = await readInventory(connection, signal);
  if (read.kind !== 'read') return read;
  const { inventory } = read;
  const reports: StepReport[] = [];
  const actions = plan(inventory, spec, { mode: 'verify', idle: false, steps });
  for (const { step, hash } of actions) {
    const run = stepRun(step, spec, {}, { verb: 'check', hash, lockOwner: '', idle: false });
    const outcome: StepOutcome =
      inventory.root || step.unprivileged === true
        ? await executeStep(connection, step, 'check', run, redact, signal)
        : { kind: 'step failed', error: new StepError(step, { failure: 'no root', output: '' }, redact) };
    if (outcome.kind === 'connection lost' || outcome.kind === 'aborted') return outcome;
    const found = inventory.stamps[step.name];
    const about = {
      step: step.name,
      title: step.title,
      stamp: found === undefined ? 'none' : found === hash ? 'current' : 'other',
    } as const;
    const error = outcome.kind === 'finished' ? undefined : stepErrorOf(step, outcome, redact);
    const report: StepReport =
      outcome.kind === 'finished'
        ? {
            ...about,
            state: outcome.result === 'unchanged' ? 'as wanted' : 'different',
            differences: outcome.differences,
          }
        : { ...about, state: 'could not look', differences: [], ...(error && { error }) };
    reports.push(report);
    onStep?.(report);
  }
  const changed = actions.filter(({ stamped }) => !stamped);
  return { kind: 'checked', inventory, objections: preflight(inventory, spec, changed, clock.now()), steps: reports };
};
