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
 * What is held of the server's objects, and how it follows.
 *
 * Flow: each difference is first stored, then notified, one at a time.
 * Guarantees: an object's states are notified in the order of their versions, none twice; another object of the same name (another uid)
 * is notified as a removal and an addition.
 * Assumptions: a list is the truth, also where it is older than what is held (a server restored from a backup); events of one watch
 * come in the order of their versions.
 */
export interface StoreUpdater<T extends KubeObject> {
  /** Becomes what the list says, whose objects have been transformed already. */
  replace(objects: readonly Live<T>[]): void;
  /** Takes in one event of a watch, unless it is known already. `reached` is the version up to which everything is known. */
  apply(event: ObjectEvent<T>, reached: string): void;
}

type ObjectEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

export const createStoreUpdater = <T extends KubeObject>({
  store,
  audience,
  transform,
}: {
  store: IndexedStore<T>;
  audience: Listeners<InformerEvent<T>>;
  /** Undefined: the object is not to be held, as if the server did not have it. */
  transform: (object: Live<T>) => Live<T> | undefined;
}): StoreUpdater<T> => {
  const remove = (key: string, previous: Live<T>): void => {
    store.remove(key);
    audience.notify({ type: 'removed', previous });
  };
  const put = (key: string, object: Live<T>): void => {
    const held = store.get(key);
    const previous = held?.metadata.uid === object.metadata.uid ? held : undefined;
    if (held && !previous) remove(key, held);
    store.put(key, object);
    audience.notify(previous ? { type: 'changed', object, previous } : { type: 'added', object });
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
    apply: ({ type, object }, reached) => {
      const version = object.metadata.resourceVersion;
      // A version equal to the one reached can still be news: objects that share a lease (Events) expire in one transaction.
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

/** What a listener throws is logged and does not concern the others. */
interface Listeners<C> {
  notify(change: C): void;
  /** Tells `listener` of `past`, then of everything that comes. */
  subscribe(listener: Listener<C>, past: Iterable<C>): () => void;
}

export const createListeners = <C>(log: Logger): Listeners<C> => {
  /** Wrapped: the same function can subscribe twice, and unsubscribe once. */
  const subscriptions = new Set<{ listener: Listener<C> }>();
  const logError = (error: unknown): void => log.error('A cache listener threw; the cache goes on', { error });
  const call = (listener: Listener<C>, change: C): void => {
    try {
      const answer: unknown = listener(change);
      // An async function passes as a listener; its rejection would otherwise end the process.
      if (answer instanceof Promise) answer.catch(logError);
    } catch (error) {
      logError(error);
    }
  };
  return {
    notify: (change) => {
      // A listener that subscribes meanwhile got this change among its past; one that unsubscribes is not called any more.
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
