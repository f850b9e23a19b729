import { isDeepStrictEqual } from 'node:util';
import {
  annotationsChanged,
  anyOf,
  fromCache,
  itsOwnKey,
  keyOf,
  type KubeObject,
  type Matters,
  type Source,
  specChanged,
  type WatchCache,
} from '@tartan/kube';
import { type Clusters, ownerClusterOf } from './observe.ts';

/** Core adds itself as the owner after the object was made, which moves no generation. */
const ownersChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' ||
  !isDeepStrictEqual(change.object.metadata.ownerReferences, change.previous.metadata.ownerReferences);

/** Objects of a Cluster, and the Cluster of each: whatever may change whether they are worked on. Our own status is no news. */
export const partsOfClusters = <T extends KubeObject>(objects: WatchCache<T>, clusters: Clusters): Source[] => [
  fromCache(objects, itsOwnKey, anyOf(specChanged, annotationsChanged, ownersChanged)),
  fromCache(
    clusters,
    (cluster) =>
      objects
        .list()
        .filter((object) => ownerClusterOf(object)?.uid === cluster.metadata.uid)
        .map((object) => keyOf(object.metadata)),
    specChanged,
  ),
];
