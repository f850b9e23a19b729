import {
  again,
  type Client,
  isKubeError,
  type KubeObject,
  type Live,
  type Outcome,
  patchStatus,
  type Resource,
  settled,
  type WithStatus,
} from '@tartan/kube';
import { moveBlockingPatch } from '../pause/block-move.ts';

/** Somebody else has written the object: look at what it is now. */
const conflictPauseMs = 1000;

/** Keeps `clusterctl move` from taking the object. The change of its annotations brings it back here. */
export const blockMove = async <T extends KubeObject>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  { metadata }: Live<T>,
  signal: AbortSignal,
): Promise<Outcome> => {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  const body = { metadata: { ...moveBlockingPatch.metadata, uid, resourceVersion } };
  try {
    await client.patch(resource, { namespace, name }, { type: 'merge', body }, { signal });
    return settled;
  } catch (error) {
    if (isKubeError(error, 'conflict')) return again(conflictPauseMs);
    if (isKubeError(error, 'notFound')) return settled;
    throw error;
  }
};

/** Says what was found, unless that is said already or nothing is to be said. */
export const report = async <T extends WithStatus>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  status: NonNullable<T['status']> | undefined,
  signal: AbortSignal,
): Promise<Outcome> => {
  if (status === undefined) return settled;
  try {
    await patchStatus(client, resource, object, status, { signal });
    return settled;
  } catch (error) {
    if (isKubeError(error, 'conflict')) return again(conflictPauseMs);
    if (isKubeError(error, 'notFound')) return settled;
    throw error;
  }
};
