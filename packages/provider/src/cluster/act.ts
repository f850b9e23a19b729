import {
  type Client,
  done,
  ignoreNotFound,
  type KubeObject,
  type Live,
  patchIfUnchanged,
  patchStatus,
  type ReconcileResult,
  type Resource,
  type WithStatus,
} from '@tartan/kube';
import { moveBlockingPatch } from '../pause/pauses.ts';

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
