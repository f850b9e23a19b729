import {
  type Client,
  done,
  isKubeError,
  type KubeObject,
  type Live,
  patchStatus,
  type ReconcileResult,
  requeueAfter,
  type Resource,
  type WithStatus,
} from '@tartan/kube';
import { moveBlockingPatch } from '../pause/pauses.ts';

/** Somebody else has written the object: look at what it is now. */
const conflictRequeueMs = 1000;

/** Keeps `clusterctl move` from taking the object. The change of its annotations brings it back here. */
export const blockMove = async <T extends KubeObject>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  { metadata }: Live<T>,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  const body = { metadata: { ...moveBlockingPatch.metadata, uid, resourceVersion } };
  try {
    await client.patch(resource, { namespace, name }, { type: 'merge', body }, { signal });
    return done;
  } catch (error) {
    if (isKubeError(error, 'conflict')) return requeueAfter(conflictRequeueMs);
    if (isKubeError(error, 'notFound')) return done;
    throw error;
  }
};

/** Says what was found, unless that is said already or nothing is to be said. */
export const writeStatus = async <T extends WithStatus>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  status: NonNullable<T['status']> | undefined,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  if (status === undefined) return done;
  try {
    await patchStatus(client, resource, object, status, { signal });
    return done;
  } catch (error) {
    if (isKubeError(error, 'conflict')) return requeueAfter(conflictRequeueMs);
    if (isKubeError(error, 'notFound')) return done;
    throw error;
  }
};
