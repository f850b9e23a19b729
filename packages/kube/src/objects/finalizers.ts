import type { CallOptions, Client } from '../client/client.ts';
import { done, type ReconcileResult } from '../controller/reconcile.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { KubeObject, Live, ObjectName, Resource } from './object.ts';

/** `domain/name`: what the server wants of a finalizer of a custom kind, and what keeps ours apart from those of others. */
export type Finalizer = `${string}/${string}`;

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
  return client.patch(resource, nameIn(object), patchOf(object, finalizers), options);
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
  try {
    return await client.patch(resource, nameIn(object), patchOf(object, finalizers), options);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

/** What must happen between the first sight of an object and its end. */
export interface FinalizerHandlers<T extends KubeObject> {
  /** Bring about what the object asks for. It is on the server with our finalizer when this is called. */
  apply(object: Live<T>): Promise<ReconcileResult>;
  /** Undo it. `cleaned` once nothing is left; an outcome while there is more to do. May be called again after `cleaned`. */
  cleanup(object: Live<T>): Promise<'cleaned' | ReconcileResult>;
}

/**
 * Nothing that `apply` made outlives the object.
 *
 * Flow, by what the object shows:
 *
 *   | being deleted | has our finalizer | then                                            |
 *   |---------------|-------------------|-------------------------------------------------|
 *   | no            | no                | add it, in a write of its own; then `apply`      |
 *   | no            | yes               | `apply`                                         |
 *   | yes           | yes               | `cleanup`; once `cleaned`, remove the finalizer |
 *   | yes           | no                | nothing: it is not ours to hold                 |
 *
 * Guarantees: `apply` never runs before the server has stored the finalizer; the finalizer goes only after `cleanup` said
 * `cleaned`; a failed write rejects, so that the pass fails and comes again.
 * Assumptions: `apply` and `cleanup` are idempotent, as a process can die after either; `cleanup` copes with an `apply` that
 * never ran or ran half.
 * Caveats: `object` may come from a cache that lags. Then the write meets a conflict and the next pass sees more; `cleanup`
 * may run once more for an object that is gone. Somebody who removes the finalizer by hand takes these guarantees away.
 */
export const withFinalizer = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizer: Finalizer,
  work: FinalizerHandlers<T>,
  options?: CallOptions,
): Promise<ReconcileResult> => {
  const deleting = object.metadata.deletionTimestamp !== undefined;
  if (!deleting) return work.apply(await addFinalizer(client, resource, object, finalizer, options));
  if (!hasFinalizer(object, finalizer)) return done;
  const outcome = await work.cleanup(object);
  if (outcome !== 'cleaned') return outcome;
  await removeFinalizer(client, resource, object, finalizer, options);
  return done;
};

const nameIn = ({ metadata: { name, namespace } }: Live<KubeObject>): ObjectName =>
  namespace === undefined ? { name } : { name, namespace };

const patchOf = ({ metadata: { resourceVersion } }: Live<KubeObject>, finalizers: readonly string[]) =>
  ({ type: 'merge', body: { metadata: { resourceVersion, finalizers } } }) as const;
