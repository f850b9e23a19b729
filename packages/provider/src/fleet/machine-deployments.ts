import { annotations } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';
import { type CoreMachineDeployment, desiredReplicas, templateOf } from '../core/kinds.ts';

/** What MachineDeployments ask for. */
export interface WantedMachines {
  /** How many. */
  readonly desired: number;
  /** The one that the fleet names was not seen yet as it was written last: whoever looks now sees what was wanted before. */
  readonly deploymentPending: boolean;
  /** Machines that were made from another template than is wanted now, and that Cluster API replaces. */
  readonly toBeReplaced: readonly string[];
}

/** Cluster API notes down from what it made a machine, and which MachineDeployment asked for it. */
const clonedFromAnnotation = 'cluster.x-k8s.io/cloned-from-name';
const deploymentNameLabel = 'cluster.x-k8s.io/deployment-name';

/** `revision` is what the fleet says that its MachineDeployments were written as. */
export const wantedMachines = (
  deployments: readonly Live<CoreMachineDeployment>[],
  machines: readonly Machine[],
  revision: string | undefined,
): WantedMachines => ({
  desired: deployments.reduce((sum, each) => sum + desiredReplicas(each), 0),
  deploymentPending:
    revision !== undefined &&
    !deployments.some(({ metadata }) => metadata.annotations?.[annotations.machinesRevision] === revision),
  toBeReplaced: deployments.flatMap((deployment) => {
    const template = templateOf(deployment);
    if (template === undefined) return [];
    return machines
      .filter((machine) => belongsTo(machine, deployment) && isFromOtherTemplate(machine, template))
      .map(nameOf);
  }),
});

const belongsTo = ({ metadata }: Machine, deployment: Live<CoreMachineDeployment>): boolean =>
  metadata.deletionTimestamp === undefined && metadata.labels?.[deploymentNameLabel] === deployment.metadata.name;

const isFromOtherTemplate = ({ metadata }: Machine, template: string): boolean => {
  const from = metadata.annotations?.[clonedFromAnnotation];
  return from !== undefined && from !== template;
};

const nameOf = ({ metadata: { name } }: Machine): string => name;

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
      ...(hasHeldReplicas(notes) && heldReplicasRemoved),
    },
  };
  return Object.keys(write.annotations).length > 0 ? write : undefined;
};

/** GitOps tools apply what was rendered again and again, so there it stays. */
const hasHeldReplicas = (notes: Readonly<Record<string, string>>): boolean =>
  annotations.heldReplicas in notes && annotations.helmRelease in notes;

const heldReplicasRemoved = {
  [annotations.heldReplicas]: null,
  [annotations.autoscalerMinSize]: null,
  [annotations.autoscalerMaxSize]: null,
};
