import { annotations } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { Machine } from '../controller-deps.ts';
import { type CoreMachineDeployment, desiredReplicas, templateOf } from '../core/kinds.ts';

/** What MachineDeployments want. */
export interface WantedMachines {
  readonly desired: number;
  /** The cache does not have the latest MachineDeployment of the fleet yet, so it shows what was wanted before. */
  readonly deploymentPending: boolean;
  /** Machines of another template than the current one, which Cluster API replaces. */
  readonly toBeReplaced: readonly string[];
}

/** Cluster API records the template of a machine, and its MachineDeployment. */
const clonedFromAnnotation = 'cluster.x-k8s.io/cloned-from-name';
const deploymentNameLabel = 'cluster.x-k8s.io/deployment-name';

/** `revision` is `spec.machinesRevision` of the fleet, which its MachineDeployments have as an annotation. */
export const wantedMachines = (
  deployments: readonly Live<CoreMachineDeployment>[],
  machines: readonly TemplateFacts[],
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
      .filter(({ deployment: of, clonedFrom }) => of === deployment.metadata.name && clonedFrom !== template)
      .map(({ name }) => name);
  }),
});

/** Which template a machine has, of which MachineDeployment. */
export interface TemplateFacts {
  readonly name: string;
  /** Undefined: the machine has no MachineDeployment, is of no known template, or is being deleted, so nothing replaces it. */
  readonly deployment: string | undefined;
  readonly clonedFrom: string | undefined;
}

export const templateFacts = ({ metadata }: Machine): TemplateFacts => {
  const clonedFrom = metadata.annotations?.[clonedFromAnnotation];
  const isReplaced = metadata.deletionTimestamp === undefined && clonedFrom !== undefined;
  return {
    name: metadata.name,
    deployment: isReplaced ? metadata.labels?.[deploymentNameLabel] : undefined,
    clonedFrom,
  };
};

/** The MachineDeployment that has the name of a fleet. */
export interface DeploymentFacts {
  readonly replicas: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A patch of the MachineDeployment. */
export interface Scaling {
  /** Undefined: the number stays. */
  readonly replicas: number | undefined;
  /** null removes an annotation. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

/**
 * Whether and how to patch the MachineDeployment of a fleet. `wanted` is `spec.replicas` of the MacFleet.
 * The number is written only when `wanted` differs from the number written last, so that changes by users and autoscalers stay. The same
 * patch records it. Without a record a user may have scaled the MachineDeployment, so its number stays too, unless the chart recorded the
 * number that it was created with.
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

/** GitOps tools keep applying the rendered annotation, so there it stays. */
const hasHeldReplicas = (notes: Readonly<Record<string, string>>): boolean =>
  annotations.heldReplicas in notes && annotations.helmRelease in notes;

const heldReplicasRemoved = {
  [annotations.heldReplicas]: null,
  [annotations.autoscalerMinSize]: null,
  [annotations.autoscalerMaxSize]: null,
};
