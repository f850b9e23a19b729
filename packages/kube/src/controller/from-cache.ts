import type { CacheChange, WatchCache } from '../cache/watch-cache.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Source } from './source.ts';

/** Which keys want attention because of this object. */
export type ToKeys<T extends KubeObject> = (object: Live<T>) => Iterable<string>;

/** Whether a change is worth a pass. */
export type Matters<T extends KubeObject> = (change: CacheChange<T>) => boolean;

const statesOf = <T extends KubeObject>(change: CacheChange<T>): Live<T>[] => {
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
export const fromCache =
  <T extends KubeObject>(
    cache: Pick<WatchCache<T>, 'subscribe'>,
    toKeys: ToKeys<T>,
    matters: Matters<T> = () => true,
  ): Source =>
  (enqueue, report) =>
    cache.subscribe((change) => {
      try {
        if (!matters(change)) return;
        for (const key of new Set(statesOf(change).flatMap((state) => [...toKeys(state)]))) enqueue(key);
      } catch (error) {
        report(error);
      }
    });
