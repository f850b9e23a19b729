import type { KubeObject } from '../object.ts';

/** One write. Every write has its own revision, across all kinds. */
export interface Change {
  revision: number;
  key: string;
  /** The new object; `undefined` when it was removed. */
  object: KubeObject | undefined;
  /** The old object; `undefined` when it is new. */
  previous: KubeObject | undefined;
}

/**
 * Stores objects. Synchronous on purpose: the server has one thread, so a read and the write based on it are atomic without locks. Keys are
 * `<resource prefix>/<namespace>/<name>` or `<resource prefix>/<name>`; lists are in key order. Stored objects are frozen and get
 * `metadata.resourceVersion`; returned objects are shared and never changed.
 */
export interface Storage {
  /** Revision of the last write. */
  readonly revision: number;
  /** Changes up to and including this revision can no longer be replayed. */
  readonly compacted: number;
  get(key: string): KubeObject | undefined;
  /** All objects whose key starts with `prefix`, now or, as far as the history reaches, at `revision`. */
  list(prefix: string, revision?: number): KubeObject[];
  put(key: string, object: KubeObject): KubeObject;
  /** Returns the removed object, with the revision of its removal. */
  remove(key: string): KubeObject | undefined;
  /** Changes after `revision` to keys that start with `prefix`, oldest first. */
  changes(prefix: string, revision: number): Change[];
  /** Calls `listener` for each later change, in order, within the write. Returns a function to unsubscribe. */
  subscribe(listener: (change: Change) => void): () => void;
}

/** The state of a key from `revision` on; without an object: deleted. */
export type Version = Pick<Change, 'revision' | 'key' | 'object'>;

/** Makes a storage persistent. */
export interface Journal {
  /** The stored versions, oldest first: at least the last version of every key, and all after `compacted`. */
  readonly past: { compacted: number; versions: Iterable<Version> };
  /** Called before the change becomes visible. When it throws, the change has not happened. */
  write(change: Change): void;
  /** These changes, oldest first, are no longer replayed. Never throws: rows that stay too long do no harm. */
  compact(changes: readonly Change[]): void;
}
