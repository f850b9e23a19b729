import {
  again,
  type Client,
  isKubeError,
  type Live,
  type Outcome,
  patchStatus,
  type Resource,
  settled,
  type WithStatus,
} from '@tartan/kube';

/** Somebody else has written the object: look at what it is now. */
const conflictPauseMs = 1000;

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
