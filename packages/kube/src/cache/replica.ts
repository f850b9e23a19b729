import type { WatchEvent } from '../client/client.ts';
import { type KubeObject, keyOf, type Live } from '../objects/object.ts';
import type { Audience } from './audience.ts';
import type { IndexedStore } from './indexed-store.ts';
import { isNewer, isOlder } from './resource-version.ts';
import type { CacheChange } from './watch-cache.ts';

/**
 * What is held of the server's objects, and how it follows.
 *
 * Flow: each difference is first made to the store, then told, one at a time.
 * Guarantees: an object's states are told in the order of their versions, none twice; another object of the same name (another uid)
 * is told as a removal and an addition.
 * Assumptions: a list is the truth, also where it is older than what is held (a server restored from a backup); events of one watch
 * come in the order of their versions.
 */
export interface Replica<T extends KubeObject> {
  /** Becomes what the list says, whose objects have been transformed already. */
  replace(objects: readonly Live<T>[]): void;
  /** Takes in one event of a watch, unless it is known already. `reached` is the version up to which everything is known. */
  receive(event: ObjectEvent<T>, reached: string): void;
}

type ObjectEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

export const createReplica = <T extends KubeObject>({
  store,
  audience,
  transform,
}: {
  store: IndexedStore<T>;
  audience: Audience<CacheChange<T>>;
  /** Undefined: the object is not to be held, as if the server did not have it. */
  transform: (object: Live<T>) => Live<T> | undefined;
}): Replica<T> => {
  const remove = (key: string, previous: Live<T>): void => {
    store.remove(key);
    audience.tell({ type: 'removed', previous });
  };
  const put = (key: string, object: Live<T>): void => {
    const held = store.get(key);
    const previous = held?.metadata.uid === object.metadata.uid ? held : undefined;
    if (held && !previous) remove(key, held);
    store.put(key, object);
    audience.tell(previous ? { type: 'changed', object, previous } : { type: 'added', object });
  };
  return {
    replace: (objects) => {
      const listed = new Map(objects.map((object) => [keyOf(object.metadata), object]));
      for (const key of store.keys()) {
        const held = store.get(key);
        if (held && !listed.has(key)) remove(key, held);
      }
      for (const [key, object] of listed) {
        const held = store.get(key)?.metadata;
        const { uid, resourceVersion } = object.metadata;
        if (held?.uid !== uid || held.resourceVersion !== resourceVersion) put(key, object);
      }
    },
    receive: ({ type, object }, reached) => {
      const version = object.metadata.resourceVersion;
      // A version equal to the one reached can still be news: objects that share a lease (Events) expire in one transaction.
      if (isOlder(version, reached)) return;
      const key = keyOf(object.metadata);
      const held = store.get(key);
      if (type !== 'DELETED') {
        if (held && !isNewer(version, held.metadata.resourceVersion)) return;
        const wanted = transform(object);
        if (wanted) put(key, wanted);
        else if (held) remove(key, held);
      } else if (held && !isOlder(version, held.metadata.resourceVersion)) {
        remove(key, held);
      }
    },
  };
};
