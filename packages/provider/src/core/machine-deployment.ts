import { defineResource, type KubeObject, type Resource } from '@tartan/kube';
import { coreGroup } from '../cluster/core-cluster.ts';

/** As much of Cluster API's own MachineDeployment as is read here. It is the same in both versions. */
export interface CoreMachineDeployment extends KubeObject {
  spec?: { replicas?: number };
}

/** See `coreClusters` for which version is served where. */
export const coreMachineDeployments = (version: 'v1beta1' | 'v1beta2'): Resource<CoreMachineDeployment> =>
  defineResource<CoreMachineDeployment>({
    group: coreGroup,
    version,
    kind: 'MachineDeployment',
    plural: 'machinedeployments',
    namespaced: true,
  });

/** Core fills in 1 when nobody says a number. One that is being deleted asks for nothing any more. */
export const wantedReplicas = ({ metadata, spec }: CoreMachineDeployment): number =>
  metadata?.deletionTimestamp === undefined ? (spec?.replicas ?? 1) : 0;
