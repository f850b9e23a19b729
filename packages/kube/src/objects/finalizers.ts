import type { CallOptions, Client } from '../client/client.ts';
import { ignoreNotFound } from '../errors/kube-error.ts';
import type { KubeObject, Live, Resource } from './object.ts';
import { patchIfUnchanged } from './optimistic-lock.ts';

/** `domain/name`: what the server wants of a finalizer of a custom kind, and what keeps ours apart from those of others. */
type Finalizer = `${string}/${string}`;

export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata?.finalizers?.includes(finalizer) ?? false;

/**
 * Flow: nothing if the object has it already; else one merge patch of `metadata.finalizers`.
 * Guarantees: the finalizers of others stay, because the patch holds the resource version that `object` was read at.
 * Caveats: `conflict` when the object has changed since (read again), `invalid` when it is being deleted already.
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
 * Flow: nothing if the object does not have it; else one merge patch of `metadata.finalizers`.
 * Guarantees: as `addFinalizer`. Undefined when the object is gone already, which is what the caller wanted.
 * Caveats: `conflict` when the object has changed since. The answer may be the last state of an object that this very call
 * let go.
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
