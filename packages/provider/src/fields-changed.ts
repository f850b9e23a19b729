import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Live, Predicate } from '@tartan/kube';

/** Matches when an object is added or removed, or when one of these fields changes. */
export const fieldsChanged =
  <T extends KubeObject>(fieldsOf: (object: Live<T>) => unknown): Predicate<T> =>
  (change) =>
    change.type !== 'changed' || !isDeepStrictEqual(fieldsOf(change.object), fieldsOf(change.previous));

/** Cluster API adds its owner reference after the object is created, which does not change the generation. */
export const ownersChanged = fieldsChanged<KubeObject>(({ metadata }) => metadata.ownerReferences);
