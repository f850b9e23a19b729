import type { KubeObject, Live } from '../objects/object.ts';

/** What changed in a cache. `previous` is what it held before. */
export type InformerEvent<T extends KubeObject> =
  | { type: 'added'; object: Live<T> }
  | { type: 'changed'; object: Live<T>; previous: Live<T> }
  /** `previous` is the last state known; the object may have changed once more before it went. */
  | { type: 'removed'; previous: Live<T> };

/** A copy of all objects of a kind, kept current by list and watch. Objects it answers are shared: never change one. */
export interface Informer<T extends KubeObject> {
  /** Resolves once the first list is in and listeners have been told of it. Stays pending when `run` ends before that. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  /** Why the cache may be behind: the latest failure, until a list or an event has come through again. */
  readonly lastError: Error | undefined;
  get(key: string): Live<T> | undefined;
  list(): Live<T>[];
  /** Objects for which the index function of that name answered `value`. Throws when the cache has no such index. */
  byIndex(index: string, value: string): Live<T>[];
  /**
   * Calls `listener` for each change from now on, after having told it of what is there already. Calls are synchronous, in order,
   * one per change; during a call the cache holds exactly what has been told so far. The returned function ends the calls.
   */
  subscribe(listener: (change: InformerEvent<T>) => void): () => void;
  /** Lists, watches and recovers until `signal` fires. Never rejects. One run at a time. */
  run(signal: AbortSignal): Promise<void>;
}
