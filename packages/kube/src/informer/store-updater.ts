import type { WatchEvent } from '../client/client.ts';
import type { Logger } from '../logs/logger.ts';
import {
  isNewerResourceVersion,
  isOlderResourceVersion,
  keyOf,
  type KubeObject,
  type Live,
} from '../objects/object.ts';
import type { IndexedStore } from './indexed-store.ts';
import type { InformerEvent } from './informer.ts';

/**
 * Applies lists and watch events to the store.
 *
 * Flow: stores each change, then notifies of it, one at a time.
 * Guarantees: notifies of an object's states in the order of their versions, never twice; a recreated object (same name, another uid)
 * is notified as a removal and an addition.
 * Assumptions: a list is authoritative, even if older than the store (a server restored from a backup); the events of one watch come in
 * the order of their versions.
 */
export interface StoreUpdater<T extends KubeObject> {
  /**
   * The object to keep of a listed one: that in the store if it is of the same version, so that a relist does not hold everything twice.
   * Undefined: it is not cached.
   */
  keptOf(listed: Live<T>): Live<T> | undefined;
  /** Replaces the content by a list of objects from `keptOf`. */
  replace(objects: readonly Live<T>[]): void;
  /** Applies a watch event unless it is known already. `reached`: everything up to this version is known. */
  apply(event: ObjectEvent<T>, reached: string): void;
}

type ObjectEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

export const createStoreUpdater = <T extends KubeObject>({
  store,
  listeners,
  transform,
}: {
  store: IndexedStore<T>;
  listeners: Listeners<InformerEvent<T>>;
  /** Undefined: the object is not cached, as if it did not exist. */
  transform: (object: Live<T>) => Live<T> | undefined;
}): StoreUpdater<T> => {
  const remove = (key: string, previous: Live<T>): void => {
    store.remove(key);
    listeners.notify({ type: 'removed', previous });
  };
  const put = (key: string, object: Live<T>): void => {
    const held = store.get(key);
    const previous = held?.metadata.uid === object.metadata.uid ? held : undefined;
    if (held && !previous) remove(key, held);
    store.put(key, object);
    listeners.notify(previous ? { type: 'changed', object, previous } : { type: 'added', object });
  };
  const isSameVersion = (a: Live<T> | undefined, { metadata: { uid, resourceVersion } }: Live<T>): boolean =>
    a?.metadata.uid === uid && a.metadata.resourceVersion === resourceVersion;
  return {
    keptOf: (listed) => {
      const held = store.get(keyOf(listed.metadata));
      return isSameVersion(held, listed) ? held : transform(listed);
    },
    replace: (objects) => {
      const listed = new Map(objects.map((object) => [keyOf(object.metadata), object]));
      for (const key of store.keys()) {
        const held = store.get(key);
        if (held && !listed.has(key)) remove(key, held);
      }
      for (const [key, object] of listed) {
        if (!isSameVersion(store.get(key), object)) put(key, object);
      }
    },
    apply: ({ type, object }, reached) => {
      const version = object.metadata.resourceVersion;
      // An event with the same version can be new: Events that share an etcd lease expire in one transaction.
      if (isOlderResourceVersion(version, reached)) return;
      const key = keyOf(object.metadata);
      const held = store.get(key);
      if (type !== 'DELETED') {
        if (held && !isNewerResourceVersion(version, held.metadata.resourceVersion)) return;
        const wanted = transform(object);
        if (wanted) put(key, wanted);
        else if (held) remove(key, held);
      } else if (held && !isOlderResourceVersion(version, held.metadata.resourceVersion)) {
        remove(key, held);
      }
    },
  };
};

type Listener<C> = (change: C) => void;

/** An exception of a listener is logged and does not affect the others. */
interface Listeners<C> {
  notify(change: C): void;
  /** Calls `listener` for `past`, then for each new change. */
  subscribe(listener: Listener<C>, past: Iterable<C>): () => void;
}

export const createListeners = <C>(log: Logger): Listeners<C> => {
  /** Wrapped, so that a function can subscribe twice and unsubscribe once. */
  const subscriptions = new Set<{ listener: Listener<C> }>();
  const logError = (error: unknown): void => log.error('A cache listener threw; the cache goes on', { error });
  const call = (listener: Listener<C>, change: C): void => {
    try {
      const answer: unknown = listener(change);
      // An async function is a valid listener too; its unhandled rejection would end the process.
      if (answer instanceof Promise) answer.catch(logError);
    } catch (error) {
      logError(error);
    }
  };
  return {
    notify: (change) => {
      // A listener that subscribes meanwhile gets this change in its `past`; one that unsubscribes is not called any more.
      for (const subscription of subscriptions.values().toArray())
        if (subscriptions.has(subscription)) call(subscription.listener, change);
    },
    subscribe: (listener, past) => {
      const subscription = { listener };
      for (const change of past) call(listener, change);
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
  };
};
