import type { KubeObject, Live, ObjectName, Resource } from '../objects/object.ts';

/**
 * Every call has a deadline (30 s by default; one for all pages of a list) and can be ended by a signal. A watch has no deadline
 * but its own timeout, once the server has answered.
 */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  deadlineMs?: number | undefined;
}

/** Which objects of a kind. */
export interface Selection {
  /** Undefined or empty: all namespaces. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface ListOptions<T extends KubeObject = KubeObject> extends CallOptions, Selection {
  /** Objects per page; pages are followed to the end. 500 by default. */
  pageSize?: number;
  /**
   * Called for each object before the next page is asked for: what it answers is in the list, and undefined leaves the object out. So
   * a large collection takes the memory of one page and of what is wanted of it. May change the object in place.
   */
  transform?: (object: Live<T>) => Live<T> | undefined;
}

export interface List<T extends KubeObject> {
  items: Live<T>[];
  /** From where a watch sees everything that this list does not. */
  resourceVersion: string;
}

export interface WatchOptions extends Selection {
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
  /** `status`, `approval`, …: instead of the object itself. Those that speak of another kind (`scale`, `token`) are in Subresources. */
  subresource?: string;
  /** The server tries everything and stores nothing. An object that would have been created has an empty resource version. */
  dryRun?: boolean;
  /**
   * What the server does with fields that it does not know: by default it refuses them (`Strict`), since dropping them would go
   * unnoticed. `Warn` and `Ignore` drop them.
   */
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

/**
 * A Kubernetes API. Rejects with KubeError and nothing else. Nothing is retried here: whoever calls knows whether that is safe.
 * Objects are what the server sent, with every field it sent; items of a list get the `apiVersion` and `kind` that servers leave
 * out there.
 *
 * Caveat: numbers are JavaScript's. An integer beyond 2^53, which a custom resource may hold, is rounded when it is read, and an
 * `update` would store it rounded. Change such objects by `patch`, which sends only what changes.
 */
export interface Client {
  get<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options?: CallOptions & { subresource?: string },
  ): Promise<Live<T>>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions<NoInfer<T>>): Promise<List<T>>;
  /** Ends when the server ends it. Throws `expired` when the server has forgotten the resource version. */
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
  /** The object if its deletion has only begun, undefined when it is gone. */
  delete<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options?: DeleteOptions,
  ): Promise<Live<T> | undefined>;
}
