import type { Clock } from '@tartan/kube/clock';
import { controllerManager, type User } from '../authentication/user.ts';
import type { Authorizer, RuleResolver } from '../authorization/authorizer.ts';
import { notFound } from '../errors/api-error.ts';
import { copy, type KubeObject } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';
import type { Change } from '../storage/storage.ts';
import { createObject } from './create.ts';
import { deleteObject } from './delete.ts';
import { type Core, prefixOf, read } from './store.ts';
import { updateObject, updateView, viewOf } from './update.ts';

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
 * The API for the server's own parts: subresources, admission, built-in controllers. Synchronous; throws ApiError like a client would see
 * it. Namespace is '' for cluster-scoped kinds. Returned objects are shared: `copy` one before changing it. Writes go through the same
 * pipeline as requests (defaults, validation, resource versions, finalizers, events), without authentication and authorization.
 */
export interface LoopbackClient {
  clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  uuid(): string;
  authorize: Authorizer;
  /** Absent with another authorizer than RBAC. */
  ruleResolver?: RuleResolver;
  /** The served resource of that group and plural, in its preferred version, or undefined. */
  find(group: string, plural: string): Resource | undefined;
  /** By kind, in any served version, for owner references and bodies. */
  findKind(group: string, kind: string): Resource | undefined;
  /** All served resources, one per group and plural. */
  resources(): Resource[];
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined;
  /** `namespace` '' lists all namespaces. */
  list(resource: Resource, namespace: string): KubeObject[];
  create(resource: Resource, namespace: string, object: KubeObject, user: User, options?: WriteOptions): KubeObject;
  /** Optimistic lock on `metadata.resourceVersion`, if the object has one. */
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
  /** The object if its deletion has only begun; undefined if it is gone. Throws NotFound and Conflict. */
  delete(
    resource: Resource,
    namespace: string,
    name: string,
    user: User,
    options?: DeleteOptions,
  ): KubeObject | undefined;
  /**
   * Removes `kubernetes` from the namespace's spec.finalizers, like a PUT to `finalize`; the namespace is removed with its last finalizer.
   */
  finalizeNamespace(name: string): void;
  /** Binds a Pod to a Node, like a POST to `pods/binding`. Throws NotFound and Conflict. */
  bind(namespace: string, pod: string, node: string): void;
  /**
   * Every later change of `resource`, in order. The listener runs within the write, so it may only enqueue. Returns a function to
   * unsubscribe.
   */
  subscribe(resource: Resource, listener: (change: Change) => void): () => void;
}

export const createLoopbackClient = (core: Core, authorize: Authorizer): LoopbackClient => {
  const context = (user: User, dryRun = false): WriteContext => ({ api, user, dryRun });
  const viewed = (
    resource: Resource,
    subresource: string,
    namespace: string,
    object: KubeObject,
    into: WriteContext,
  ) => {
    const view = viewOf(resource, subresource);
    if (!view) throw notFound(resource, `${object.metadata.name}/${subresource}`);
    return updateView(core, resource, view, namespace, object, into);
  };
  const preferred = (): Resource[] => {
    const seen = new Set<string>();
    return core.registry.all().filter(({ group, plural }) => {
      const key = `${group}/${plural}`;
      return !seen.has(key) && seen.add(key);
    });
  };
  const api: LoopbackClient = {
    clock: core.clock,
    random: core.random,
    uuid: core.uuid,
    authorize,
    find: (group, plural) => core.registry.find(group, plural),
    findKind: (group, kind) => core.registry.findKind(group, kind),
    resources: preferred,
    get: (resource, namespace, name) => read(core, resource, namespace, name),
    list: (resource, namespace) =>
      core.storage.list(prefixOf(resource, namespace)).map((object) => resource.fromStored(object)),
    create: (resource, namespace, object, user, options) =>
      createObject(core, resource, namespace, object, context(user, options?.dryRun)),
    update: (resource, namespace, object, user, options) =>
      updateObject(core, resource, namespace, object, context(user, options?.dryRun)).object,
    updateStatus: (resource, namespace, object, user, options) =>
      viewed(resource, 'status', namespace, object, context(user, options?.dryRun)),
    updateSubresource: (resource, subresource, namespace, object, user, options) =>
      viewed(resource, subresource, namespace, object, context(user, options?.dryRun)),
    delete: (resource, namespace, name, user, options = {}) => {
      const deleted = deleteObject(core, resource, namespace, name, options, context(user, options.dryRun));
      return deleted.gone ? undefined : deleted.object;
    },
    finalizeNamespace: (name) => {
      const namespaces = core.registry.find('', 'namespaces');
      const namespace = namespaces && read(core, namespaces, '', name);
      if (!namespace) return;
      const finalizers = (namespace as { spec?: { finalizers?: string[] } }).spec?.finalizers ?? [];
      const next = { ...copy(namespace), spec: { finalizers: finalizers.filter((entry) => entry !== 'kubernetes') } };
      viewed(namespaces, 'finalize', '', next, context(controllerManager));
    },
    bind: (namespace, name, node) => {
      const pods = core.registry.find('', 'pods');
      const pod = pods && read(core, pods, namespace, name);
      if (!pod) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, name);
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: pod.metadata,
        target: { kind: 'Node', name: node },
      };
      viewed(pods, 'binding', namespace, binding, context(controllerManager));
    },
    subscribe: (resource, listener) =>
      core.storage.subscribe((change) => {
        if (change.key.startsWith(resource.prefix)) listener(change);
      }),
  };
  return api;
};
