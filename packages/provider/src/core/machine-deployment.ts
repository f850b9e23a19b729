import { defineResource, type KubeObject, type Resource } from '@tartan/kube';
import { coreGroup } from './cluster.ts';

/** As much of Cluster API's own MachineDeployment as is read here. But for the strategy it is the same in both versions. */
export interface CoreMachineDeployment extends KubeObject {
  spec?: {
    replicas?: number;
    template?: { spec?: { infrastructureRef?: { name?: string } } };
    rollout?: { strategy?: Strategy };
    strategy?: Strategy;
  };
}

interface Strategy {
  type?: string;
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
export const desiredReplicas = ({ metadata, spec }: CoreMachineDeployment): number =>
  metadata?.deletionTimestamp === undefined ? (spec?.replicas ?? 1) : 0;

/** The template that its machines shall be made from. Undefined: those that are from another one may stay, until somebody deletes them. */
export const templateOf = ({ spec }: CoreMachineDeployment): string | undefined =>
  (spec?.rollout?.strategy ?? spec?.strategy)?.type === 'OnDelete'
    ? undefined
    : spec?.template?.spec?.infrastructureRef?.name;
