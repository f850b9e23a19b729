import { isDeepStrictEqual } from 'node:util';
import type { Informer, InformerEvent } from '../informer/informer.ts';
import { keyOf, type KubeObject, type Live } from '../objects/object.ts';
import { getControllerOf } from '../objects/owners.ts';

/**
 * A source of keys. Called when the controller starts; the returned function unsubscribes. Errors of a single change go to
 * `report`: a source never throws into the cache that feeds it.
 */
export type Source = (enqueue: (key: string) => void, report: (error: unknown) => void) => () => void;

/** Maps an object to the keys to reconcile. */
export type MapFunc<T extends KubeObject> = (object: Live<T>) => Iterable<string>;

/** Whether a change triggers a reconcile. */
export type Predicate<T extends KubeObject> = (change: InformerEvent<T>) => boolean;

const statesOf = <T extends KubeObject>(change: InformerEvent<T>): Live<T>[] => {
  switch (change.type) {
    case 'added':
      return [change.object];
    case 'changed':
      return [change.previous, change.object];
    case 'removed':
      return [change.previous];
  }
};

/** Enqueues the keys of every changed object. Maps both the previous and the new state, so that a previous owner is reconciled too. */
export const fromInformer =
  <T extends KubeObject>(
    informer: Pick<Informer<T>, 'subscribe'>,
    mapFunc: MapFunc<T>,
    predicate: Predicate<T> = () => true,
  ): Source =>
  (enqueue, report) =>
    informer.subscribe((change) => {
      try {
        if (!predicate(change)) return;
        for (const key of new Set(statesOf(change).flatMap((state) => [...mapFunc(state)]))) enqueue(key);
      } catch (error) {
        report(error);
      }
    });

/** The key of the object itself. */
export const requestForObject: MapFunc<KubeObject> = ({ metadata }) => [keyOf(metadata)];

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** The key of the controller owner of that kind. The version in the owner reference may be any. */
export const requestForOwner =
  (owner: { group: string; kind: string; namespaced: boolean }): MapFunc<KubeObject> =>
  (object) => {
    const reference = getControllerOf(object);
    if (!reference || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return [];
    const { namespace } = object.metadata;
    return [keyOf({ name: reference.name, ...(owner.namespaced && namespace !== undefined && { namespace }) })];
  };

/** True for added and removed objects, and for changes of these fields. */
export const fieldsChanged =
  <T extends KubeObject>(fieldsOf: (object: Live<T>) => unknown): Predicate<T> =>
  (change) =>
    change.type !== 'changed' || !isDeepStrictEqual(fieldsOf(change.object), fieldsOf(change.previous));

/** Changes of the spec, and the start of the deletion. Ignores status writes. Only for kinds with a generation. */
export const generationChanged = fieldsChanged<KubeObject>(({ metadata }) => [
  metadata.generation,
  metadata.deletionTimestamp,
]);
export const labelsChanged = fieldsChanged<KubeObject>(({ metadata }) => metadata.labels ?? {});
export const annotationsChanged = fieldsChanged<KubeObject>(({ metadata }) => metadata.annotations ?? {});
/** Cluster API core adds its owner references after the object was created, which does not change the generation. */
export const ownersChanged = fieldsChanged<KubeObject>(({ metadata }) => metadata.ownerReferences);

export const anyOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (change) =>
    predicates.some((predicate) => predicate(change));
