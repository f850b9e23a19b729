import type { KubeObject, Live, ObjectName, Resource } from '../objects/object.ts';

/**
 * A call ends at its deadline (30 s by default; for a list, one deadline covers all pages) or when the signal fires. A watch has
 * a deadline only until the server responds; after that, its own timeout ends it.
 */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  deadlineMs?: number | undefined;
}

/** Selects objects of one kind. */
export interface Selection {
  /** Undefined or empty: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** A filter for collections of mostly unwanted objects, which no selector can express. */
interface RawFilter {
  /**
   * A text that every wanted object contains somewhere, such as the name of a finalizer. Objects without it are not parsed. A list leaves
   * them out. A watch reports each of their changes as DELETED, with their identity only: an object may have lost the text. Objects that
   * contain it elsewhere are not filtered out. It consists of letters, digits and `_./:-`.
   */
  mustContain?: string | undefined;
}

export interface ListOptions<T extends KubeObject = KubeObject> extends CallOptions, Selection, RawFilter {
  /** Objects per page; pages are followed to the end. 500 by default. */
  pageSize?: number;
  /**
   * Called for each object of a page before the next page is requested. The list gets the returned object; undefined leaves the
   * object out. So a large list needs the memory of one page plus what is kept. May change the object in place.
   */
  transform?: (object: Live<T>) => Live<T> | undefined;
}

export interface List<T extends KubeObject> {
  items: Live<T>[];
  /** A watch from this version delivers every change after the list. */
  resourceVersion: string;
}

export interface WatchOptions extends Selection, RawFilter {
  resourceVersion: string;
  timeoutSeconds?: number;
  signal: AbortSignal;
}

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Live<T> }
  | { type: 'BOOKMARK'; resourceVersion: string };

export type Patch =
  | { type: 'merge'; body: object }
  | { type: 'strategic'; body: object }
  | { type: 'json'; body: readonly { op: string; path: string; value?: unknown; from?: string }[] };

export interface WriteOptions extends CallOptions {
  /** `status`, `approval`, …: writes the subresource. Subresources with a body of another kind (`scale`, `token`) are in Subresources. */
  subresource?: string;
  /** The server validates the write and stores nothing. A created object then has an empty resource version. */
  dryRun?: boolean;
  /** How the server treats unknown fields. `Strict` (the default) rejects the object; `Warn` and `Ignore` drop the fields. */
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

/**
 * A Kubernetes API client. Rejects only with KubeError. Retries only what the server refused with a time to come back (see `flow`): for the
 * rest, only the caller knows whether a retry is safe.
 * Objects keep every field that the server sent. List items get the `apiVersion` and `kind` that servers omit there.
 *
 * Caveat: numbers are JavaScript numbers. An integer beyond 2^53 in a custom resource is rounded on read, and `update` would
 * store the rounded value. Change such objects with `patch`, which sends only the changes.
 */
export interface Client {
  get<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options?: CallOptions & { subresource?: string },
  ): Promise<Live<T>>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions<NoInfer<T>>): Promise<List<T>>;
  /** Ends when the server ends it. Throws `expired` when the resource version is too old. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** The namespace is that of the object's metadata. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Live<T>>;
  /** Compare-and-swap on the object's resource version. */
  update<T extends KubeObject>(resource: Resource<T>, object: Live<T>, options?: WriteOptions): Promise<Live<T>>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<Live<T>>;
  /** Resolves with the object while its deletion is pending (finalizers, grace period), with undefined once it is gone. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options?: DeleteOptions,
  ): Promise<Live<T> | undefined>;
}
