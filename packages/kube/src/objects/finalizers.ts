import type { CallOptions, Client } from '../client/client.ts';
import { ignoreNotFound } from '../errors/kube-error.ts';
import type { KubeObject, Live, Resource } from './object.ts';
import { patchIfUnchanged } from './optimistic-lock.ts';

/** `domain/name`: the API server requires it for custom resources, and it avoids name clashes. */
type Finalizer = `${string}/${string}`;

export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata?.finalizers?.includes(finalizer) ?? false;

/**
 * Sends one merge patch of `metadata.finalizers`, unless the object has the finalizer already.
 * Guarantees: keeps other finalizers, because the patch includes the resource version of `object` (optimistic lock).
 * Caveats: `conflict` when the object has changed (read again), `invalid` when it is being deleted already.
 */
export const addFinalizer = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizer: Finalizer,
  options?: CallOptions,
): Promise<Live<T>> => {
  if (hasFinalizer(object, finalizer)) return object;
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return patchIfUnchanged(client, resource, object, { metadata: { finalizers } }, options);
};

/**
 * Sends one merge patch of `metadata.finalizers`, unless the object does not have the finalizer.
 * Guarantees: as `addFinalizer`. Resolves with undefined when the object is gone already, which is what the caller wanted.
 * Caveats: `conflict` when the object has changed. The result may be the last state of an object that this call released.
 */
export const removeFinalizer = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizer: string,
  options?: CallOptions,
): Promise<Live<T> | undefined> => {
  if (!hasFinalizer(object, finalizer)) return object;
  const finalizers = object.metadata.finalizers?.filter((other) => other !== finalizer) ?? [];
  return ignoreNotFound(patchIfUnchanged(client, resource, object, { metadata: { finalizers } }, options));
};
