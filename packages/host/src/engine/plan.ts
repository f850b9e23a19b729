import type { Artifact } from '../artifacts/artifact.ts';
import type { Preparation } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import type { AnyStep } from '../steps/step.ts';
import { type DeferReason, deferReasonOf, type StepRunOptions } from './execute-step.ts';
import type { Inventory } from './inventory.ts';
import { stepHash } from './step-hash.ts';

/**
 * `changed`: steps whose stamp says that the host has them already are left out. `verify`: they are looked at too, and mended where
 * somebody else changed the host.
 */
export type Mode = 'changed' | 'verify';

export interface PlanOptions extends Pick<StepRunOptions, 'idle' | 'transport'> {
  readonly mode: Mode;
  readonly steps?: readonly AnyStep[];
}

/** One step of a plan. Its script looks first, whatever the plan says, and applies only what differs. */
export interface Action {
  readonly step: AnyStep;
  readonly hash: string;
  /** Whether the host claims to have it: then it is looked at before anything is sent for it. */
  readonly stamped: boolean;
  /** What must lie in the store before it runs. What is claimed to be there is looked at then: a hash in the inventory is only a name. */
  readonly needs: readonly Artifact[];
  /** What the host claims to have in its store. */
  readonly stored: ReadonlySet<string>;
  /** Why it may not change anything now. */
  readonly deferReason: DeferReason | undefined;
}

/** What is to be done to a host that reports this. Pure and total; the same for first boot, roll and repair. */
export const plan = (inventory: Inventory, spec: Preparation, options: PlanOptions): Action[] => {
  const actions = sortSteps(options.steps ?? hostSteps).map((step): Action => {
    const hash = stepHash(step, spec);
    const deferReason = deferReasonOf(step, options);
    return {
      step,
      hash,
      stamped: inventory.stamps[step.name] === hash,
      needs: deferReason === undefined ? artifactsOf(step, spec) : [],
      stored: inventory.artifacts,
      deferReason,
    };
  });
  return options.mode === 'verify' ? actions : actions.filter(({ stamped }) => !stamped);
};

/** Steps that give us root before those that need it; optional ones, which can cost only themselves, last. Else as listed. */
export const sortSteps = (steps: readonly AnyStep[]): AnyStep[] => {
  const rank = (step: AnyStep): number => (step.unprivileged === true ? 0 : step.optional === true ? 2 : 1);
  return [...steps].sort((a, b) => rank(a) - rank(b));
};

export const artifactsOf = (step: AnyStep, spec: Preparation): readonly Artifact[] => {
  const intent = step.intent(spec);
  return intent === undefined ? [] : (step.artifacts?.(intent) ?? []);
};

/** What lies on the host and belongs to nothing any more. Only for a host that is as wanted: until then it may still be needed. */
export interface Garbage {
  readonly artifacts: readonly string[];
  /** Of steps that we no longer know. */
  readonly stamps: readonly string[];
  /** The Mac has started since. */
  readonly staleRebootMark: boolean;
}

/** Somebody who runs a part of the list knows nothing of what the others want. */
const isPartialList = (steps: readonly AnyStep[]): boolean =>
  steps.length < hostSteps.length && steps.every((step) => hostSteps.includes(step));

export const garbageOn = (inventory: Inventory, spec: Preparation, steps: readonly AnyStep[] = hostSteps): Garbage => {
  const staleRebootMark = inventory.rebootPendingSince !== undefined && inventory.rebootPendingSince !== inventory.boot;
  if (isPartialList(steps)) return { artifacts: [], stamps: [], staleRebootMark };
  const wanted = new Set(steps.flatMap((step) => artifactsOf(step, spec).map(({ sha256 }) => sha256)));
  const known = new Set(steps.map((step) => step.name));
  return {
    artifacts: [...inventory.artifacts].filter((sha256) => !wanted.has(sha256)),
    stamps: Object.keys(inventory.stamps).filter((name) => !known.has(name)),
    staleRebootMark,
  };
};
