import { annotations } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  type Client,
  done,
  fromInformer,
  generationChanged,
  ignoreNotFound,
  keyOf,
  type KubeObject,
  type Live,
  type OwnerReference,
  patchIfUnchanged,
  patchStatus,
  type ReconcileResult,
  requestForObject,
  type Resource,
  type Source,
  type WithStatus,
} from '@tartan/kube';
import type { Cache, Informers } from '../controller-deps.ts';
import { coreGroup } from '../core/kinds.ts';
import { ownersChanged } from '../fields-changed.ts';
import { moveBlockingPatch, pauseReasonsOf } from '../pause/pauses.ts';

export interface Snapshot {
  deleting: boolean;
  /** Somebody else looks after the object, by an annotation of Cluster API. */
  managedElsewhere: boolean;
  /** The Cluster that owns the object. Core says so soon after both are there. */
  owner: 'none' | 'notSeenYet' | 'seen';
  /** What asks to touch nothing, in words. */
  pauses: readonly string[];
  /** It has the annotation that keeps `clusterctl move` from taking it. */
  blocksMove: boolean;
}

export type Decision =
  | { kind: 'leave'; because: 'managedElsewhere' | 'deleting' | 'noOwner' | 'ownerNotSeenYet' }
  | { kind: 'pause'; why: string }
  /** Annotate it, so that `clusterctl move` fails before it deletes anything. */
  | { kind: 'block move' }
  | { kind: 'proceed' };

/**
 * Whether an object that core made part of a Cluster may be worked on. Without its Cluster nobody knows whether it is paused, so
 * nothing is done; what comes next wakes the controller up again. Nothing of ours has to go before the object does.
 */
export const decide = ({ deleting, managedElsewhere, owner, pauses, blocksMove }: Snapshot): Decision => {
  if (managedElsewhere) return { kind: 'leave', because: 'managedElsewhere' };
  if (deleting) return { kind: 'leave', because: 'deleting' };
  if (owner === 'none') return { kind: 'leave', because: 'noOwner' };
  if (owner === 'notSeenYet') return { kind: 'leave', because: 'ownerNotSeenYet' };
  if (pauses.length > 0) return { kind: 'pause', why: pauses.join(', ') };
  if (!blocksMove) return { kind: 'block move' };
  return { kind: 'proceed' };
};

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

/** Keeps `clusterctl move` from taking the object. The change of its annotations brings it back here. */
export const blockMove = async <T extends KubeObject>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  object: Live<T>,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  await ignoreNotFound(patchIfUnchanged(client, resource, object, moveBlockingPatch, { signal }));
  return done;
};

/** Says what was found, unless that is said already or nothing is to be said. */
export const writeStatus = async <T extends WithStatus>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  status: NonNullable<T['status']> | undefined,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  if (status !== undefined) await ignoreNotFound(patchStatus(client, resource, object, status, { signal }));
  return done;
};
