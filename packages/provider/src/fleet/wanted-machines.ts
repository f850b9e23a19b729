import { annotations, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { type CoreMachineDeployment, templateOf, wantedReplicas } from '../core/machine-deployment.ts';

/** What MachineDeployments ask for. */
export interface WantedMachines {
  /** How many. */
  readonly desired: number;
  /** The one that the fleet names was not seen yet as it was written last: whoever looks now sees what was wanted before. */
  readonly awaited: boolean;
  /** Machines that were made from another template than is wanted now, and that Cluster API replaces. */
  readonly leftBehind: readonly string[];
}

type Machine = Live<ScalewayAppleSiliconMachine>;

/** Cluster API notes down from what it made a machine, and which MachineDeployment asked for it. */
const madeFrom = 'cluster.x-k8s.io/cloned-from-name';
const askedForBy = 'cluster.x-k8s.io/deployment-name';

/** `revision` is what the fleet says that its MachineDeployments were written as. */
export const wantedMachines = (
  deployments: readonly Live<CoreMachineDeployment>[],
  machines: readonly Machine[],
  revision: string | undefined,
): WantedMachines => ({
  desired: deployments.reduce((sum, each) => sum + wantedReplicas(each), 0),
  awaited:
    revision !== undefined &&
    !deployments.some(({ metadata }) => metadata.annotations?.[annotations.machinesRevision] === revision),
  leftBehind: deployments.flatMap((deployment) => {
    const template = templateOf(deployment);
    if (template === undefined) return [];
    return machines.filter((machine) => isOf(machine, deployment) && isFromAnother(machine, template)).map(nameOf);
  }),
});

const isOf = ({ metadata }: Machine, deployment: Live<CoreMachineDeployment>): boolean =>
  metadata.deletionTimestamp === undefined && metadata.labels?.[askedForBy] === deployment.metadata.name;

const isFromAnother = ({ metadata }: Machine, template: string): boolean => {
  const from = metadata.annotations?.[madeFrom];
  return from !== undefined && from !== template;
};

const nameOf = ({ metadata: { name } }: Machine): string => name;
