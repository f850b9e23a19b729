import type { CallOptions, Client } from '../client/client.ts';
import type { KubeObject, Live, ObjectName, Resource } from './object.ts';

/**
 * A merge patch with the UID and resource version of the object as read. Rejects with `conflict` when the object has changed or was
 * recreated.
 */
export const patchIfUnchanged = <T extends KubeObject>(
  client: Pick<Client, 'patch'>,
  resource: Resource<T>,
  object: Live<T>,
  change: { readonly metadata?: object; readonly spec?: object },
  options?: CallOptions,
): Promise<Live<T>> => {
  const { uid, resourceVersion } = object.metadata;
  const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
  return client.patch(resource, nameIn(object), { type: 'merge', body }, options);
};

/** Deletes the object. Rejects with `conflict` if it has changed since it was read. */
export const deleteIfUnchanged = <T extends KubeObject>(
  client: Pick<Client, 'delete'>,
  resource: Resource<T>,
  object: Live<T>,
  options?: CallOptions,
): Promise<Live<T> | undefined> => {
  const { uid, resourceVersion } = object.metadata;
  return client.delete(resource, nameIn(object), { ...options, preconditions: { uid, resourceVersion } });
};

const nameIn = ({ metadata: { name, namespace } }: Live<KubeObject>): ObjectName =>
  namespace === undefined ? { name } : { name, namespace };
