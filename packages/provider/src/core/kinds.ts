import { defineResource, type KubeObject, type OwnerReference, type Resource } from '@tartan/kube';

/** The fields of Cluster API's Cluster that we read. `infrastructureReady` is the name in `v1beta1`. */
export interface CoreCluster extends KubeObject {
  spec?: { paused?: boolean; infrastructureRef?: { kind?: string } };
  status?: { initialization?: { infrastructureProvisioned?: boolean }; infrastructureReady?: boolean };
}

export const coreGroup = 'cluster.x-k8s.io';

/** Core up to 1.10 serves only `v1beta1`; later versions also serve `v1beta2`, and will stop serving `v1beta1`. */
export const coreClusters = (version: 'v1beta1' | 'v1beta2'): Resource<CoreCluster> =>
  defineResource<CoreCluster>({ group: coreGroup, version, kind: 'Cluster', plural: 'clusters', namespaced: true });

/**
 * The owner reference to the Machine that core sets on its infrastructure, of any API version. Before, the owner is a MachineSet. The
 * Machine itself is read only to see whether it is being deleted: core copies everything else of interest to the infrastructure.
 */
export const ownerMachineOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${coreGroup}/`),
  );

/** Cluster API's Machine. Only its metadata is read. */
export type CoreMachine = KubeObject;

/** See `coreClusters` for which version is served where. */
export const coreMachines = (version: 'v1beta1' | 'v1beta2'): Resource<CoreMachine> =>
  defineResource<CoreMachine>({ group: coreGroup, version, kind: 'Machine', plural: 'machines', namespaced: true });

/** The fields of Cluster API's MachineDeployment that we read. Only the strategy differs between the versions. */
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

/** Core defaults to 1. A MachineDeployment that is being deleted wants none. */
export const desiredReplicas = ({ metadata, spec }: CoreMachineDeployment): number =>
  metadata?.deletionTimestamp === undefined ? (spec?.replicas ?? 1) : 0;

/** The template that its machines should use. Undefined for `OnDelete`: machines of older templates stay until a user deletes them. */
export const templateOf = ({ spec }: CoreMachineDeployment): string | undefined =>
  (spec?.rollout?.strategy ?? spec?.strategy)?.type === 'OnDelete'
    ? undefined
    : spec?.template?.spec?.infrastructureRef?.name;
