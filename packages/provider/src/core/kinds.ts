import { defineResource, type KubeObject, type OwnerReference, type Resource } from '@tartan/kube';

/** As much of Cluster API's own Cluster as is read here. `infrastructureReady` is what `v1beta1` calls it. */
export interface CoreCluster extends KubeObject {
  spec?: { paused?: boolean; infrastructureRef?: { kind?: string } };
  status?: { initialization?: { infrastructureProvisioned?: boolean }; infrastructureReady?: boolean };
}

export const coreGroup = 'cluster.x-k8s.io';

/** Managers up to 1.10 serve `v1beta1` alone; later ones serve `v1beta2` too, and stop serving the older one some day. */
export const coreClusters = (version: 'v1beta1' | 'v1beta2'): Resource<CoreCluster> =>
  defineResource<CoreCluster>({ group: coreGroup, version, kind: 'Cluster', plural: 'clusters', namespaced: true });

/**
 * The reference that core puts on the infrastructure of a Machine, whatever the version it names. Before that a MachineSet stands there.
 * The Machine itself is read only where it is asked whether it goes: core copies to its infrastructure all else that matters here.
 */
export const ownerMachineOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${coreGroup}/`),
  );

/** Cluster API's own Machine, of which nothing but its metadata is read. */
export type CoreMachine = KubeObject;

/** See `coreClusters` for which version is served where. */
export const coreMachines = (version: 'v1beta1' | 'v1beta2'): Resource<CoreMachine> =>
  defineResource<CoreMachine>({ group: coreGroup, version, kind: 'Machine', plural: 'machines', namespaced: true });

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
