import { annotations } from '@tartan/api';

/** The MachineDeployment that bears the name of a fleet. */
export interface DeploymentFacts {
  readonly replicas: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A write to it. */
export interface Scaling {
  /** Undefined: the number stays as it is. */
  readonly replicas: number | undefined;
  /** null removes one. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

/**
 * Whether the MachineDeployment of a fleet is to be written, and how. `wanted` is `spec.replicas` of the MacFleet.
 *
 * A number is written only when `wanted` is another one than was written last, so that what people and autoscalers set stays. That one is
 * recorded in the same write. A MachineDeployment without a record may have been scaled by somebody, so its number stays, too, unless the
 * chart that made it noted with which one.
 */
export const decideScaling = (
  wanted: number | undefined,
  deployment: DeploymentFacts | undefined,
): Scaling | undefined => {
  if (deployment === undefined) return undefined;
  const { replicas, annotations: notes } = deployment;
  const { appliedReplicas, initialReplicas } = annotations;
  const next = wanted === undefined ? notes[appliedReplicas] : String(wanted);
  const last = notes[appliedReplicas] ?? notes[initialReplicas];
  const changed = wanted !== undefined && last !== undefined && last !== next;
  const write = {
    replicas: changed && wanted !== replicas ? wanted : undefined,
    annotations: {
      ...(next !== undefined && next !== notes[appliedReplicas] && { [appliedReplicas]: next }),
      ...(isHeld(notes) && released),
    },
  };
  return Object.keys(write.annotations).length > 0 ? write : undefined;
};

/** GitOps tools apply what was rendered again and again, so there it stays. */
const isHeld = (notes: Readonly<Record<string, string>>): boolean =>
  annotations.heldReplicas in notes && annotations.helmRelease in notes;

const released = {
  [annotations.heldReplicas]: null,
  [annotations.autoscalerMinSize]: null,
  [annotations.autoscalerMaxSize]: null,
};
