import type { KubeObject, Live } from '../objects/object.ts';

/** What changed in a cache. `previous` is what it held before. */
export type InformerEvent<T extends KubeObject> =
  | { type: 'added'; object: Live<T> }
  | { type: 'changed'; object: Live<T>; previous: Live<T> }
  /** `previous` is the last known state; the object may have changed again before its deletion. */
  | { type: 'removed'; previous: Live<T> };

/** A cache of all objects of a kind, kept current by list and watch. Returned objects are shared: never modify them. */
export interface Informer<T extends KubeObject> {
  /** Resolves when the first list is cached and listeners were called for it. Stays pending if `run` ends earlier. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** Why the cache may be stale: the latest failure, until the next successful list or event. */
  readonly lastError: Error | undefined;
  get(key: string): Live<T> | undefined;
  list(): Live<T>[];
  /** The objects with that index value. Throws when there is no such index. */
  byIndex(index: string, value: string): Live<T>[];
  /** How many objects have each value of that index. Costs the values, not the objects. */
  countByIndex(index: string): ReadonlyMap<string, number>;
  /**
   * Calls `listener` for every cached object, then for each change. Calls are synchronous and in order; during a call the cache
   * holds exactly the state reported so far. The returned function unsubscribes.
   */
  subscribe(listener: (change: InformerEvent<T>) => void): () => void;
  /** Lists, watches and recovers until `signal` fires. Never rejects. Only one run at a time. */
  run(signal: AbortSignal): Promise<void>;
}
