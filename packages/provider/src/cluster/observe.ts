import { annotations } from '@tartan/api';
import { keyOf, type KubeObject, type Live, type OwnerReference, type WatchCache } from '@tartan/kube';
import { type CoreCluster, coreGroup } from './core-cluster.ts';
import { pausesOf } from '../pause/pauses.ts';
import type { Snapshot } from './decide.ts';

export type Clusters = Pick<WatchCache<CoreCluster>, 'get' | 'subscribe'>;

/** The reference that core puts on an object of a Cluster, whatever the version it names. */
export const ownerClusterOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Cluster' && apiVersion.startsWith(`${coreGroup}/`),
  );

export const observe = (clusters: Clusters, object: Live<KubeObject>): Snapshot => {
  const { namespace = '', deletionTimestamp } = object.metadata;
  const notes = object.metadata.annotations ?? {};
  const reference = ownerClusterOf(object);
  const cached = reference && clusters.get(keyOf({ namespace, name: reference.name }));
  // One of the same name that was made later is another Cluster.
  const cluster = cached?.metadata.uid === reference?.uid ? cached : undefined;
  return {
    deleting: deletionTimestamp !== undefined,
    managedElsewhere: annotations.externallyManaged in notes,
    owner: reference === undefined ? 'none' : cluster === undefined ? 'notSeenYet' : 'seen',
    pauses: pausesOf(object, cluster),
    blocksMove: annotations.blockMove in notes,
  };
};
