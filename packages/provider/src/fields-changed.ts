import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, Live, Predicate } from '@tartan/kube';

/** Whether an object was added or removed, or differs in these fields from what it was. */
export const fieldsChanged =
  <T extends KubeObject>(fieldsOf: (object: Live<T>) => unknown): Predicate<T> =>
  (change) =>
    change.type !== 'changed' || !isDeepStrictEqual(fieldsOf(change.object), fieldsOf(change.previous));

/** Core adds itself as the owner after the object was made, which moves no generation. */
export const ownersChanged = fieldsChanged<KubeObject>(({ metadata }) => metadata.ownerReferences);
