import type { Authorizer } from '../auth/authorizer.ts';
import { controllerManager, type User } from '../auth/user.ts';
import { copy, type KubeObject } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';
import { notFound } from '../status/api-error.ts';
import type { Api } from './api.ts';
import { type Core, prefixOf, read } from './core.ts';
import { createObject } from './create.ts';
import { deleteObject } from './delete.ts';
import { updateObject, updateView, viewOf } from './update.ts';

/** The API for the server's own parts, over the same operations that requests use. */
export const createLocalApi = (core: Core, authorize: Authorizer): Api => {
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
  const api: Api = {
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
