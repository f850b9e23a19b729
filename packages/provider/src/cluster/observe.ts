import { isDeepStrictEqual } from 'node:util';
import { annotations } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  fromInformer,
  generationChanged,
  keyOf,
  type KubeObject,
  type Live,
  type OwnerReference,
  type Predicate,
  requestForObject,
  type Source,
} from '@tartan/kube';
import type { Cache, Informers } from '../controller-deps.ts';
import { coreGroup } from '../core/cluster.ts';
import { pauseReasonsOf } from '../pause/pauses.ts';
import type { Snapshot } from './decide.ts';

/** The reference that core puts on an object of a Cluster, whatever the version it names. */
export const ownerClusterOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Cluster' && apiVersion.startsWith(`${coreGroup}/`),
  );

export const observe = (clusters: Informers['clusters'], object: Live<KubeObject>): Snapshot => {
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
    pauses: pauseReasonsOf(object, cluster),
    blocksMove: annotations.blockMove in notes,
  };
};

/** Core adds itself as the owner after the object was made, which moves no generation. */
const ownersChanged: Predicate<KubeObject> = (change) =>
  change.type !== 'changed' ||
  !isDeepStrictEqual(change.object.metadata.ownerReferences, change.previous.metadata.ownerReferences);

/** Objects of a Cluster, and the Cluster of each: whatever may change whether they are worked on. Our own status is no news. */
export const clusterMemberSources = <T extends KubeObject>(
  objects: Cache<T>,
  clusters: Informers['clusters'],
): Source[] => [
  fromInformer(objects, requestForObject, anyOf(generationChanged, annotationsChanged, ownersChanged)),
  fromInformer(
    clusters,
    (cluster) =>
      objects
        .list()
        .filter((object) => ownerClusterOf(object)?.uid === cluster.metadata.uid)
        .map((object) => keyOf(object.metadata)),
    generationChanged,
  ),
];
