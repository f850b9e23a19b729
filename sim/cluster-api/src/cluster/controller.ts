import {
  type Controller,
  createController,
  done,
  fromInformer,
  type Informer,
  keyOf,
  type KubeObject,
  type Live,
  nameOf,
  patchStatus,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
  type Resource,
  secrets,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, ReconcileOptions } from '../context.ts';
import { endpointOf } from '../external/contract.ts';
import { type External, ownersOfKind, refersTo } from '../external/object-tracker.ts';
import { type Cluster, clusters, machineDeployments, machines, machineSets } from '../kinds.ts';
import { finalizers, labels } from '../names.ts';
import { ownerReference, withOwner } from '../owner-references.ts';
import { ignoreNotFound, patchIfChanged, requeueOnConflict, withFinalizer, withoutFinalizer } from '../writes.ts';
import { decideDeletion, type Deletion, type Snapshot } from './deletion.ts';
import { pausedStatus, statusOf } from './status.ts';

/** Undefined: the Cluster is gone. */
const observe = async (
  { client, externals, clock }: Context,
  name: { namespace: string; name: string },
  options: ReconcileOptions,
): Promise<Snapshot | undefined> => {
  const { namespace } = name;
  const cluster = await ignoreNotFound(client.get(clusters, name, options));
  if (!cluster) return undefined;
  const { infrastructureRef, controlPlaneRef } = cluster.spec ?? {};
  const ofCluster = { namespace, labelSelector: `${labels.clusterName}=${name.name}`, ...options };
  const [infrastructure, controlPlane, deployments, sets, all, secret] = await Promise.all([
    infrastructureRef && externals.read(namespace, infrastructureRef, options),
    controlPlaneRef && externals.read(namespace, controlPlaneRef, options),
    client.list(machineDeployments, ofCluster),
    client.list(machineSets, ofCluster),
    client.list(machines, ofCluster),
    ignoreNotFound(client.get(secrets, { namespace, name: `${name.name}-kubeconfig` }, options)),
  ]);
  return {
    cluster,
    infrastructure,
    controlPlane,
    machineDeployments: deployments.items,
    machineSets: sets.items,
    machines: all.items,
    // Core ignores Secrets without this label.
    kubeconfig:
      secret?.metadata.labels?.[labels.clusterName] === name.name && (secret.data?.['value'] ?? '').length > 0,
    now: clock.now(),
  };
};

const isEndpointSet = (endpoint: { host?: string; port?: number } | undefined): boolean =>
  Boolean(endpoint?.host) && Boolean(endpoint?.port);

/** Adds the finalizer, and the control plane endpoint once a provider reports it. */
const ensureFinalizerAndEndpoint = async (
  { client }: Context,
  { cluster, infrastructure, controlPlane }: Snapshot,
  options: ReconcileOptions,
): Promise<Live<Cluster>> => {
  if (cluster.metadata.deletionTimestamp !== undefined) return cluster;
  const found = [infrastructure, controlPlane].flatMap((each) => (each?.object && endpointOf(each.object)) ?? []);
  const controlPlaneEndpoint = isEndpointSet(cluster.spec?.controlPlaneEndpoint) ? undefined : found[0];
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

/** Providers ignore an object until core owns it. */
const ownExternalObjects = async (
  { client }: Context,
  { cluster, infrastructure, controlPlane }: Snapshot,
  options: ReconcileOptions,
): Promise<void> => {
  for (const part of [infrastructure, controlPlane]) {
    if (!part?.kind || !part.object || part.object.metadata.deletionTimestamp !== undefined) continue;
    const metadata = {
      ownerReferences: withOwner(part.object, ownerReference('Cluster', cluster)),
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

const deleteExternal = async (
  { client }: Context,
  { kind, object }: External,
  options: ReconcileOptions,
): Promise<void> => {
  if (!kind || !object) return;
  const { namespace = '', name, uid } = object.metadata;
  await ignoreNotFound(client.delete(kind.resource, { namespace, name }, { ...options, preconditions: { uid } }));
};

const act = async (
  context: Context,
  cluster: Live<Cluster>,
  deletion: Deletion,
  options: ReconcileOptions,
): Promise<void> => {
  const { client } = context;
  const { namespace = '' } = cluster.metadata;
  switch (deletion.kind) {
    case 'waitForWorkers':
      for (const { kind, name } of deletion.delete)
        await ignoreNotFound(client.delete(resources[kind], { namespace, name }, options));
      return;
    case 'controlPlane':
    case 'infrastructure':
      if (deletion.delete) await deleteExternal(context, deletion.object, options);
      return;
    case 'finish': {
      const metadata = { finalizers: withoutFinalizer(cluster, finalizers.cluster) };
      await ignoreNotFound(patchIfChanged(client, clusters, cluster, { metadata }, options));
    }
  }
};

/** The Cluster that an object's label names. */
const keyOfCluster = ({ metadata }: Live<KubeObject>): string[] => {
  const { namespace } = metadata;
  const name = metadata.labels?.[labels.clusterName];
  return name === undefined ? [] : [keyOf({ name, ...(namespace !== undefined && { namespace }) })];
};

/** Reports the state of a Cluster's parts, and deletes them in order. */
export const createClusterController = (context: Context, kubeconfigs: Informer<KubeObject>): Controller => {
  const { client, caches, externals, clock, log, intervals } = context;

  const reconcile = async (key: string, options: ReconcileOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    if (pausedCondition(seen.cluster, 'Cluster', seen.cluster).status === 'True') {
      await patchStatus(client, clusters, seen.cluster, pausedStatus(seen), options);
      return done;
    }
    const snapshot: Snapshot = { ...seen, cluster: await ensureFinalizerAndEndpoint(context, seen, options) };
    if (snapshot.cluster.metadata.deletionTimestamp !== undefined) return reconcileDelete(snapshot, options);
    await ownExternalObjects(context, snapshot, options);
    await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, undefined), options);
    const isMissing = [snapshot.infrastructure, snapshot.controlPlane].some((part) => part && !part.object);
    return isMissing ? requeueAfter(intervals.externalRetryMs) : done;
  };

  const reconcileDelete = async (snapshot: Snapshot, options: ReconcileOptions): Promise<ReconcileResult> => {
    const deletion = decideDeletion(snapshot);
    log.debug('Deleting Cluster', { cluster: snapshot.cluster.metadata.name, deletion });
    const cluster = await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, deletion), options);
    await act(context, cluster, deletion, options);
    return deletion.kind === 'finish' ? done : requeueAfter(intervals.deletionRetryMs);
  };

  return createController({
    name: 'cluster',
    reconcile: requeueOnConflict((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.clusters, requestForObject),
      fromInformer(caches.machineDeployments, keyOfCluster),
      fromInformer(caches.machineSets, keyOfCluster),
      fromInformer(caches.machines, keyOfCluster),
      fromInformer(kubeconfigs, keyOfCluster),
      externals.source((object) => [
        ...ownersOfKind('Cluster')(object),
        ...caches.clusters
          .list()
          .filter(
            ({ metadata, spec }) =>
              metadata.namespace === object.metadata.namespace &&
              (refersTo(spec?.infrastructureRef, object) || refersTo(spec?.controlPlaneRef, object)),
          )
          .map(({ metadata }) => keyOf(metadata)),
      ]),
    ],
    clock,
    log,
  });
};
