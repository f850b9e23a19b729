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
  ownersChanged,
  patchIfUnchanged,
  patchStatus,
  type ReconcileResult,
  requestForObject,
  type Resource,
  type Source,
  type WithStatus,
} from '@tartan/kube';
import type { Cache, ClusterGetter, Informers } from '../controller-deps.ts';
import { coreGroup } from '../core/kinds.ts';
import { moveBlockingPatch, pauseReasonsOf } from '../pause/pauses.ts';

export interface Snapshot {
  deleting: boolean;
  /** Cluster API's annotation says that another system manages the object. */
  managedElsewhere: boolean;
  /** The Cluster that owns the object. Core sets the owner reference soon after both exist. */
  owner: 'none' | 'notSeenYet' | 'seen';
  /** Why reconciliation is paused, in words. */
  pauses: readonly string[];
  /** It has the annotation that blocks `clusterctl move`. */
  blocksMove: boolean;
}

export type Decision =
  | { kind: 'skip'; reason: 'managedElsewhere' | 'deleting' | 'noOwner' | 'ownerNotSeenYet' }
  | { kind: 'pause'; why: string }
  /** Annotate it, so that `clusterctl move` fails before it deletes anything. */
  | { kind: 'block move' }
  | { kind: 'proceed' };

/**
 * Whether an object that belongs to a Cluster may be reconciled. Without its Cluster it is unknown whether it is paused, so nothing is
 * done; the watch triggers again. No cleanup is needed before the object is deleted.
 */
export const decide = ({ deleting, managedElsewhere, owner, pauses, blocksMove }: Snapshot): Decision => {
  if (managedElsewhere) return { kind: 'skip', reason: 'managedElsewhere' };
  if (deleting) return { kind: 'skip', reason: 'deleting' };
  if (owner === 'none') return { kind: 'skip', reason: 'noOwner' };
  if (owner === 'notSeenYet') return { kind: 'skip', reason: 'ownerNotSeenYet' };
  if (pauses.length > 0) return { kind: 'pause', why: pauses.join(', ') };
  if (!blocksMove) return { kind: 'block move' };
  return { kind: 'proceed' };
};

/** The owner reference to the Cluster that core sets, of any API version. */
export const ownerClusterOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Cluster' && apiVersion.startsWith(`${coreGroup}/`),
  );

export const observe = (clusters: ClusterGetter, object: Live<KubeObject>): Snapshot => {
  const { namespace = '', deletionTimestamp } = object.metadata;
  const notes = object.metadata.annotations ?? {};
  const reference = ownerClusterOf(object);
  const cached = reference && clusters.get(keyOf({ namespace, name: reference.name }));
  // A Cluster with another UID was created later under the same name.
  const cluster = cached?.metadata.uid === reference?.uid ? cached : undefined;
  return {
    deleting: deletionTimestamp !== undefined,
    managedElsewhere: annotations.externallyManaged in notes,
    owner: reference === undefined ? 'none' : cluster === undefined ? 'notSeenYet' : 'seen',
    pauses: pauseReasonsOf(object, cluster),
    blocksMove: annotations.blockMove in notes,
  };
};

/** The objects of a Cluster and the Cluster of each: all that decides whether they are reconciled. Changes of the status do not matter. */
export const clusterMemberSources = <T extends KubeObject>(
  objects: Cache<T, 'owner'>,
  clusters: Informers['clusters'],
): Source[] => [
  fromInformer(objects, requestForObject, anyOf(generationChanged, annotationsChanged, ownersChanged)),
  fromInformer(
    clusters,
    (cluster) => objects.byIndex('owner', cluster.metadata.uid).map((object) => keyOf(object.metadata)),
    generationChanged,
  ),
];

/** Blocks `clusterctl move` of the object. The changed annotations trigger the next reconcile. */
export const blockMove = async <T extends KubeObject>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  object: Live<T>,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  await ignoreNotFound(patchIfUnchanged(client, resource, object, moveBlockingPatch, { signal }));
  return done;
};

/** Writes the status, unless it is undefined or unchanged. */
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
