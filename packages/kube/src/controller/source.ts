import { isDeepStrictEqual } from 'node:util';
import type { Informer, InformerEvent } from '../informer/informer.ts';
import { keyOf, type KubeObject, type Live, type ObjectMeta } from '../objects/object.ts';
import { getControllerOf } from '../objects/owners.ts';

/**
 * Where keys come from. Called when the controller starts; the returned function ends the subscription. What goes wrong for a
 * single change is told to `report`: a source never throws into the cache that feeds it.
 */
export type Source = (enqueue: (key: string) => void, report: (error: unknown) => void) => () => void;

/** Which keys want attention because of this object. */
export type MapFunc<T extends KubeObject> = (object: Live<T>) => Iterable<string>;

/** Whether a change is worth a pass. */
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

/**
 * Every change of a cached object enqueues the keys it maps to. A changed object is mapped as it was and as it is: whoever it
 * belonged to before wants to know too.
 */
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

/** The object itself. */
export const requestForObject: MapFunc<KubeObject> = ({ metadata }) => [keyOf(metadata)];

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** The object of that kind that controls it, whatever the version its owner reference names. */
export const requestForOwner =
  (owner: { group: string; kind: string; namespaced: boolean }): MapFunc<KubeObject> =>
  (object) => {
    const reference = getControllerOf(object);
    if (!reference || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return [];
    const { namespace } = object.metadata;
    return [keyOf({ name: reference.name, ...(owner.namespaced && namespace !== undefined && { namespace }) })];
  };

/** Added and removed objects always count, and changes of these parts of the metadata. */
const metadataChanged =
  (partsOf: (metadata: ObjectMeta) => unknown): Predicate<KubeObject> =>
  (change) =>
    change.type !== 'changed' || !isDeepStrictEqual(partsOf(change.object.metadata), partsOf(change.previous.metadata));

/** The spec, or the start of the deletion. Writes of the status do not count. For kinds that keep a generation. */
export const generationChanged = metadataChanged(({ generation, deletionTimestamp }) => [
  generation,
  deletionTimestamp,
]);
export const labelsChanged = metadataChanged(({ labels = {} }) => labels);
export const annotationsChanged = metadataChanged(({ annotations = {} }) => annotations);

export const anyOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (change) =>
    predicates.some((predicate) => predicate(change));
