import type { KubeObject, Live, Resource } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import { endpointOf } from '../contract/external-object.ts';
import type { External } from '../contract/externals.ts';
import { type Cluster, clusters, machineDeployments, machines, machineSets } from '../kinds.ts';
import { finalizers, labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import { plainOwner, withOwner } from '../writing/owners.ts';
import { patchIfChanged, withFinalizer, withoutFinalizer } from '../writing/patch-if-changed.ts';
import type { Deletion, Snapshot } from './decide.ts';

const isThere = (endpoint: { host?: string; port?: number } | undefined): boolean =>
  Boolean(endpoint?.host) && Boolean(endpoint?.port);

/** Its finalizer, and where its control plane is, as soon as a provider says so. */
export const settleCluster = async (
  { client }: Context,
  { cluster, infrastructure, controlPlane }: Snapshot,
  options: PassOptions,
): Promise<Live<Cluster>> => {
  if (cluster.metadata.deletionTimestamp !== undefined) return cluster;
  const found = [infrastructure, controlPlane].flatMap((each) => (each?.object && endpointOf(each.object)) ?? []);
  const controlPlaneEndpoint = isThere(cluster.spec?.controlPlaneEndpoint) ? undefined : found[0];
  return patchIfChanged(
    client,
    clusters,
    cluster,
    {
      metadata: { finalizers: withFinalizer(cluster, finalizers.cluster) },
      ...(controlPlaneEndpoint && { spec: { controlPlaneEndpoint } }),
    },
    options,
  );
};

/** Providers work on nothing before core owns it. */
export const takeParts = async (
  { client }: Context,
  { cluster, infrastructure, controlPlane }: Snapshot,
  options: PassOptions,
): Promise<void> => {
  for (const part of [infrastructure, controlPlane]) {
    if (!part?.kind || !part.object || part.object.metadata.deletionTimestamp !== undefined) continue;
    const metadata = {
      ownerReferences: withOwner(part.object, plainOwner('Cluster', cluster)),
      labels: { [labels.clusterName]: cluster.metadata.name },
    };
    await patchIfChanged(client, part.kind.resource, part.object, { metadata }, options);
  }
};

const resources: Readonly<Record<'MachineDeployment' | 'MachineSet' | 'Machine', Resource<KubeObject>>> = {
  MachineDeployment: machineDeployments,
  MachineSet: machineSets,
  Machine: machines,
};

const deletePart = async ({ client }: Context, { kind, object }: External, options: PassOptions): Promise<void> => {
  if (!kind || !object) return;
  const { namespace = '', name, uid } = object.metadata;
  await ifThere(client.delete(kind.resource, { namespace, name }, { ...options, preconditions: { uid } }));
};

export const act = async (
  context: Context,
  cluster: Live<Cluster>,
  deletion: Deletion,
  options: PassOptions,
): Promise<void> => {
  const { client } = context;
  const { namespace = '' } = cluster.metadata;
  switch (deletion.kind) {
    case 'waitForWorkers':
      for (const { kind, name } of deletion.delete)
        await ifThere(client.delete(resources[kind], { namespace, name }, options));
      return;
    case 'controlPlane':
    case 'infrastructure':
      if (deletion.delete) await deletePart(context, deletion.object, options);
      return;
    case 'finish': {
      const metadata = { finalizers: withoutFinalizer(cluster, finalizers.cluster) };
      await ifThere(patchIfChanged(client, clusters, cluster, { metadata }, options));
    }
  }
};
