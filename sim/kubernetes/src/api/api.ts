import type { User } from '../auth/user.ts';
import type { Authorizer, Roles } from '../auth/authorizer.ts';
import type { Clock } from '@tartan/kube/clock';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Change } from '../storage/storage.ts';

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

interface WriteOptions {
  dryRun?: boolean;
}

/**
 * The API behind HTTP, for the server's own parts: subresources, admission, built-in controllers. Synchronous; throws ApiError as
 * a client would see it. Namespace is '' for cluster-scoped kinds. Objects it answers are shared: `copy` before changing one.
 * Everything written through here goes through the same pipeline as a request (defaults, validation, resource versions,
 * finalizers, events), but for authentication and authorization.
 */
export interface Api {
  clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
  authorize: Authorizer;
  /** Absent when something else than roles decides. */
  roles?: Roles;
  /** The served resource of that group and plural, in its preferred version, or undefined. */
  find(group: string, plural: string): Resource | undefined;
  /** By kind, in any served version: what owner references and bodies name. */
  findKind(group: string, kind: string): Resource | undefined;
  /** All served resources, one per group and plural. */
  resources(): Resource[];
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined;
  /** `namespace` '' lists all namespaces. */
  list(resource: Resource, namespace: string): KubeObject[];
  create(resource: Resource, namespace: string, object: KubeObject, user: User, options?: WriteOptions): KubeObject;
  /** Compare-and-swap on `metadata.resourceVersion`, if the object carries one. */
  update(resource: Resource, namespace: string, object: KubeObject, user: User, options?: WriteOptions): KubeObject;
  updateStatus(
    resource: Resource,
    namespace: string,
    object: KubeObject,
    user: User,
    options?: WriteOptions,
  ): KubeObject;
  /** Any subresource that is a view of its parent: scale, approval, finalize. */
  updateSubresource(
    resource: Resource,
    subresource: string,
    namespace: string,
    object: KubeObject,
    user: User,
    options?: WriteOptions,
  ): KubeObject;
  /** The object if its deletion has only begun, undefined if it is gone now. Throws NotFound and Conflict. */
  delete(
    resource: Resource,
    namespace: string,
    name: string,
    user: User,
    options?: DeleteOptions,
  ): KubeObject | undefined;
  /** Takes `kubernetes` out of the namespace's spec.finalizers, as a PUT of its `finalize` subresource; the namespace goes with its last finalizer. */
  finalizeNamespace(name: string): void;
  /** Binds a Pod to a Node, as a POST of `pods/binding`. Throws NotFound and Conflict. */
  bind(namespace: string, pod: string, node: string): void;
  /**
   * Every change to `resource` from now on, in order; called within the write, so only take notes in it. The returned function
   * ends the subscription.
   */
  subscribe(resource: Resource, listener: (change: Change) => void): () => void;
}
