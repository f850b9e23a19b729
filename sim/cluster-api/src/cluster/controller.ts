import {
  requeueAfter,
  type Controller,
  createController,
  fromInformer,
  requestForObject,
  type KubeObject,
  keyOf,
  type Live,
  nameOf,
  type ReconcileResult,
  patchStatus,
  done,
  type Informer,
} from '@tartan/kube';
import { pausedCondition } from '../conditions/paused.ts';
import type { Context, PassOptions } from '../context.ts';
import { ownersOfKind, refersTo } from '../contract/externals.ts';
import { clusters } from '../kinds.ts';
import { labels } from '../names.ts';
import { lookingAgain } from '../writing/reconcile.ts';
import { act, settleCluster, takeParts } from './act.ts';
import { decideDeletion, type Snapshot } from './decide.ts';
import { observe } from './observe.ts';
import { pausedStatus, statusOf } from './status.ts';

/** The Cluster that an object says it is part of. */
const itsCluster = ({ metadata }: Live<KubeObject>): string[] => {
  const { namespace } = metadata;
  const name = metadata.labels?.[labels.clusterName];
  return name === undefined ? [] : [keyOf({ name, ...(namespace !== undefined && { namespace }) })];
};

/** Reads how the parts of a Cluster are, and takes them down in order. */
export const createClusterController = (context: Context, kubeconfigs: Informer<KubeObject>): Controller => {
  const { client, caches, externals, clock, log, intervals } = context;

  const reconcile = async (key: string, options: PassOptions): Promise<ReconcileResult> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return done;
    if (pausedCondition(seen.cluster, 'Cluster', seen.cluster).status === 'True') {
      await patchStatus(client, clusters, seen.cluster, pausedStatus(seen), options);
      return done;
    }
    const snapshot: Snapshot = { ...seen, cluster: await settleCluster(context, seen, options) };
    if (snapshot.cluster.metadata.deletionTimestamp !== undefined) return leave(snapshot, options);
    await takeParts(context, snapshot, options);
    await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, undefined), options);
    const isMissing = [snapshot.infrastructure, snapshot.controlPlane].some((part) => part && !part.object);
    return isMissing ? requeueAfter(intervals.externalRetryMs) : done;
  };

  const leave = async (snapshot: Snapshot, options: PassOptions): Promise<ReconcileResult> => {
    const deletion = decideDeletion(snapshot);
    log.debug('A Cluster leaves', { cluster: snapshot.cluster.metadata.name, deletion });
    const cluster = await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, deletion), options);
    await act(context, cluster, deletion, options);
    return deletion.kind === 'finish' ? done : requeueAfter(intervals.deletionRetryMs);
  };

  return createController({
    name: 'cluster',
    reconcile: lookingAgain((key, signal) => reconcile(key, { signal })),
    sources: [
      fromInformer(caches.clusters, requestForObject),
      fromInformer(caches.machineDeployments, itsCluster),
      fromInformer(caches.machineSets, itsCluster),
      fromInformer(caches.machines, itsCluster),
      fromInformer(kubeconfigs, itsCluster),
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
