import type { KubeObject } from '../object.ts';

/** One write. Every write has a revision of its own, across all kinds. */
export interface Change {
  revision: number;
  key: string;
  /** What stands there now; `undefined` when it was removed. */
  object: KubeObject | undefined;
  /** What stood there before; `undefined` when it is new. */
  previous: KubeObject | undefined;
}

/**
 * Where objects live. Synchronous on purpose: the server is one thread, so that a read and the write that rests on it are
 * atomic without locks. Keys are `<resource prefix>/<namespace>/<name>` or `<resource prefix>/<name>`; lists are in key order.
 * Objects given in are frozen and stamped with `metadata.resourceVersion`; objects given out are shared and never changed.
 */
export interface Storage {
  /** Revision of the last write. */
  readonly revision: number;
  /** Changes up to and including this revision can no longer be replayed. */
  readonly compacted: number;
  get(key: string): KubeObject | undefined;
  /** All objects whose key starts with `prefix`, as they are now or, while history reaches, as they were at `revision`. */
  list(prefix: string, revision?: number): KubeObject[];
  put(key: string, object: KubeObject): KubeObject;
  /** Answers the removed object, stamped with the revision of its removal. */
  remove(key: string): KubeObject | undefined;
  /** Changes after `revision` to keys that start with `prefix`, oldest first. */
  changes(prefix: string, revision: number): Change[];
  /** Calls `listener` for each change from now on, in order, within the write. The returned function ends that. */
  subscribe(listener: (change: Change) => void): () => void;
}

/** A state that stood under a key from `revision` on; without an object, its absence. */
export type Version = Pick<Change, 'revision' | 'key' | 'object'>;

/** What makes a storage outlive its process. */
export interface Journal {
  /** What was kept, oldest first: at least the last version of every key, and all after `compacted`. */
  readonly past: { compacted: number; versions: Iterable<Version> };
  /** Called before anybody sees the change. When it throws, the change has not happened. */
  write(change: Change): void;
  /** These changes, oldest first, are no longer replayed. Never throws: what stays too long does no harm. */
  compact(changes: readonly Change[]): void;
}
