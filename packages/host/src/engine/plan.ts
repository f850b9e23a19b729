import { type Artifact, isArtifact } from '../artifacts/artifact.ts';
import type { Preparation } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import type { AnyStep } from '../steps/step.ts';
import { deferReasonOf, type StepRunOptions } from './execute-step.ts';
import type { Inventory } from './inventory.ts';
import { stepHash } from './step-hash.ts';

/**
 * `changed`: skips steps with a current stamp. `verify`: checks them too, and repairs differences.
 */
export type Mode = 'changed' | 'verify';

export interface PlanOptions extends Pick<StepRunOptions, 'idle' | 'transport'> {
  readonly mode: Mode;
  readonly steps?: readonly AnyStep[];
}

/** One step of a plan. Its script checks first, and applies only differences. */
export type Action = Readonly<ReturnType<typeof plan>[number]>;

/** The steps to run on a host with this inventory. Pure and total. */
export const plan = (inventory: Inventory, spec: Preparation, options: PlanOptions) => {
  const actions = sortSteps(options.steps ?? hostSteps).map((step) => {
    const hash = stepHash(step, spec);
    const deferReason = deferReasonOf(step, options);
    return {
      step,
      hash,
      /** The host has a current stamp: the step is checked before anything is sent. */
      stamped: inventory.stamps[step.name] === hash,
      /** Artifacts that must be in the store before it runs. Listed ones are verified then. */
      needs: deferReason === undefined ? artifactsOf(step, spec) : [],
      /** Artifacts that the inventory lists. */
      stored: inventory.artifacts,
      /** Why it may not apply changes now. */
      deferReason,
    };
  });
  return options.mode === 'verify' ? actions : actions.filter(({ stamped }) => !stamped);
};

/** Unprivileged steps first, optional ones last. Otherwise in the listed order. */
export const sortSteps = (steps: readonly AnyStep[]): AnyStep[] => {
  const rank = (step: AnyStep): number => (step.unprivileged === true ? 0 : step.optional === true ? 2 : 1);
  return [...steps].sort((a, b) => rank(a) - rank(b));
};

export const artifactsOf = (step: AnyStep, spec: Preparation): readonly Artifact[] =>
  Object.values(step.intent(spec) ?? {}).filter(isArtifact);

/** With a part of the steps, artifacts of the others are not garbage. */
const isPartialList = (steps: readonly AnyStep[]): boolean =>
  steps.length < hostSteps.length && steps.every((step) => hostSteps.includes(step));

export type Garbage = ReturnType<typeof garbageOn>;

/** Unused files on an up-to-date host. */
export const garbageOn = (inventory: Inventory, spec: Preparation, steps: readonly AnyStep[] = hostSteps) => {
  /** The Mac has rebooted since. */
  const staleRebootMark = inventory.rebootPendingSince !== undefined && inventory.rebootPendingSince !== inventory.boot;
  if (isPartialList(steps)) return { artifacts: [], stamps: [], staleRebootMark };
  const wanted = new Set(steps.flatMap((step) => artifactsOf(step, spec).map(({ sha256 }) => sha256)));
  const known = new Set(steps.map((step) => step.name));
  return {
    artifacts: [...inventory.artifacts].filter((sha256) => !wanted.has(sha256)),
    /** Of unknown steps. */
    stamps: Object.keys(inventory.stamps).filter((name) => !known.has(name)),
    staleRebootMark,
  };
};
