import {
  again,
  type Controller,
  createController,
  fromCache,
  itsOwnKey,
  type KubeObject,
  keyOf,
  type Live,
  nameOf,
  type Outcome,
  patchStatus,
  settled,
  type WatchCache,
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
export const createClusterController = (context: Context, kubeconfigs: WatchCache<KubeObject>): Controller => {
  const { client, caches, externals, clock, log, intervals } = context;

  const reconcile = async (key: string, options: PassOptions): Promise<Outcome> => {
    const { name, namespace = '' } = nameOf(key);
    const seen = await observe(context, { name, namespace }, options);
    if (!seen) return settled;
    if (pausedCondition(seen.cluster, 'Cluster', seen.cluster).status === 'True') {
      await patchStatus(client, clusters, seen.cluster, pausedStatus(seen), options);
      return settled;
    }
    const snapshot: Snapshot = { ...seen, cluster: await settleCluster(context, seen, options) };
    if (snapshot.cluster.metadata.deletionTimestamp !== undefined) return leave(snapshot, options);
    await takeParts(context, snapshot, options);
    await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, undefined), options);
    const isMissing = [snapshot.infrastructure, snapshot.controlPlane].some((part) => part && !part.object);
    return isMissing ? again(intervals.externalRetryMs) : settled;
  };

  const leave = async (snapshot: Snapshot, options: PassOptions): Promise<Outcome> => {
    const deletion = decideDeletion(snapshot);
    log.debug('A Cluster leaves', { cluster: snapshot.cluster.metadata.name, deletion });
    const cluster = await patchStatus(client, clusters, snapshot.cluster, statusOf(snapshot, deletion), options);
    await act(context, cluster, deletion, options);
    return deletion.kind === 'finish' ? settled : again(intervals.deletionRetryMs);
  };

  return createController({
    name: 'cluster',
    reconcile: lookingAgain((key, signal) => reconcile(key, { signal })),
    sources: [
      fromCache(caches.clusters, itsOwnKey),
      fromCache(caches.machineDeployments, itsCluster),
      fromCache(caches.machineSets, itsCluster),
      fromCache(caches.machines, itsCluster),
      fromCache(kubeconfigs, itsCluster),
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
