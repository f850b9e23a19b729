import { defineResource, type KubeObject, type Resource } from '@tartan/kube';

/** As much of Cluster API's own Cluster as is read here. `infrastructureReady` is what `v1beta1` calls it. */
export interface CoreCluster extends KubeObject {
  spec?: { paused?: boolean; infrastructureRef?: { kind?: string } };
  status?: { initialization?: { infrastructureProvisioned?: boolean }; infrastructureReady?: boolean };
}

export const coreGroup = 'cluster.x-k8s.io';

/** Managers up to 1.10 serve `v1beta1` alone; later ones serve `v1beta2` too, and stop serving the older one some day. */
export const coreClusters = (version: 'v1beta1' | 'v1beta2'): Resource<CoreCluster> =>
  defineResource<CoreCluster>({ group: coreGroup, version, kind: 'Cluster', plural: 'clusters', namespaced: true });
