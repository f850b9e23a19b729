import { type Condition, defineResource, type KubeObject, type Live } from '@tartan/kube';
import type { Stage } from './stage.ts';

interface MachineDeployment extends KubeObject {
  status?: {
    observedGeneration?: number;
    replicas?: number;
    availableReplicas?: number;
    upToDateReplicas?: number;
    conditions?: Condition[];
  };
}

/** With all that core says of a roll. */
export const machineDeployments = defineResource<MachineDeployment>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  namespaced: true,
});

/** Waits until a fleet has so many Machines, all of them available and made from the template that it names. */
export const untilAvailable = (stage: Stage, fleet: string, replicas: number): Promise<Live<MachineDeployment>> =>
  stage.waitFor(
    machineDeployments,
    fleet,
    `has ${replicas} machines, available and up to date`,
    ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation &&
      status?.replicas === replicas &&
      status.availableReplicas === replicas &&
      status.upToDateReplicas === replicas,
  );
