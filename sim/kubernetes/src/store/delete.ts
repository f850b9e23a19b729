import { timestamp } from '@tartan/kube/clock';
import { conflict, notFound } from '../errors/api-error.ts';
import { copy, equal, type KubeObject } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';
import type { DeleteOptions } from './loopback-client.ts';
import { type Core, keyOf, read } from './store.ts';

/** `object` is the last state; `gone` says whether it was removed. */
export interface DeleteResult {
  object: KubeObject;
  gone: boolean;
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** The finalizers that tell the garbage collector the propagation policy. */
export const finalizersFor = (existing: readonly string[], policy: DeleteOptions['propagationPolicy']): string[] => {
  if (policy === undefined) return [...existing];
  const others = existing.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  if (policy === 'Orphan') return [...others, orphan];
  if (policy === 'Foreground') return [...others, foreground];
  return others;
};

const assertPreconditions = (resource: Resource, object: KubeObject, options: DeleteOptions): void => {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const subject = { ...resource, plural: resource.kind };
  if (uid !== undefined && uid !== object.metadata.uid) {
    throw conflict(
      subject,
      object.metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
    throw conflict(
      subject,
      object.metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`,
    );
  }
};

/** What a delete does about the grace period. */
type GracePeriod =
  /** Mark it as being deleted, until `until`. */
  | { kind: 'mark'; seconds: number; until: number }
  /** The grace period of an earlier delete is still running, and this one does not shorten it. */
  | { kind: 'pending' }
  | { kind: 'none' };

/** A second delete may only shorten the grace period of the first, and never into the past. */
export const gracePeriodOf = (
  resource: Resource,
  object: KubeObject,
  options: DeleteOptions,
  now: number,
): GracePeriod => {
  const requested =
    options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (!resource.strategy.graceful) return { kind: 'none' };
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = resource.strategy.gracePeriodSeconds(object, requested);
    return { kind: 'mark', seconds, until: now + seconds * 1000 };
  }
  if (!deletionGracePeriodSeconds) return { kind: 'none' };
  if (requested === undefined || requested >= deletionGracePeriodSeconds) return { kind: 'pending' };
  const until = Date.parse(deletionTimestamp) - (deletionGracePeriodSeconds - requested) * 1000;
  if (until >= now) return { kind: 'mark', seconds: requested, until };
  return { kind: 'mark', seconds: requested === 0 ? 0 : 1, until: now };
};

export const deleteObject = (
  core: Core,
  resource: Resource,
  namespace: string,
  name: string,
  options: DeleteOptions,
  context: WriteContext,
): DeleteResult => {
  const old = read(core, resource, namespace, name);
  if (!old) throw notFound(resource, name);
  assertPreconditions(resource, old, options);
  const key = keyOf(resource, namespace, name);
  const now = core.clock.now();
  const grace = gracePeriodOf(resource, old, options, now);
  if (grace.kind === 'pending') return { object: old, gone: false };

  const object = copy(old);
  const { metadata } = object;
  const finalizers = finalizersFor(metadata.finalizers ?? [], options.propagationPolicy);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const held = resource.strategy.blocksDeletion(object);
  const first = metadata.deletionTimestamp === undefined;
  if (grace.kind === 'mark') {
    metadata.deletionTimestamp = timestamp(grace.until);
    metadata.deletionGracePeriodSeconds = grace.seconds;
  } else if (held && first) {
    metadata.deletionTimestamp = timestamp(now);
    metadata.deletionGracePeriodSeconds = 0;
  }
  if (first && metadata.deletionTimestamp !== undefined && metadata.generation) metadata.generation += 1;
  resource.strategy.beforeDelete(object, context);

  const stays = held || (grace.kind === 'mark' && grace.seconds > 0);
  if (context.dryRun) return { object, gone: !stays };
  const stored = resource.toStored(object);
  const marked =
    (stays || grace.kind === 'mark') && !equal(object, old) ? resource.fromStored(core.storage.put(key, stored)) : old;
  if (stays) return { object: marked, gone: false };
  const removed = core.storage.remove(key);
  return { object: removed ? resource.fromStored(removed) : marked, gone: true };
};
