import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { controllerManager } from '../../authentication/user.ts';
import { allowAll } from '../../authorization/authorizer.ts';
import { copy, isObject, type KubeObject, type ObjectMeta } from '../../object.ts';
import { createRegistry } from '../../registry/registry.ts';
import { apiVersionOf, type Resource } from '../../resource.ts';
import { memoryStorage } from '../../storage/memory.ts';
import { createLoopbackClient, type LoopbackClient } from '../../store/loopback-client.ts';
import type { Core } from '../../store/store.ts';
import { testResource } from '../../testing/test-resource.ts';
import { asPod, newObject } from '../runtime/objects.ts';
import type { Controller, OnError } from '../runtime/workqueue.ts';

/** An in-memory API with simple kinds and a manual clock, for tests of controllers. */
export interface TestCluster {
  api: LoopbackClient;
  clock: ManualClock;
  /** Unexpected errors of controllers. Must be empty at the end of a test. */
  errors: unknown[];
  run(controller: (onError: OnError) => Controller): () => void;
  /** By plural and `namespace/name`, or only the name for cluster-scoped kinds. */
  get(plural: string, key: string): KubeObject | undefined;
  create(plural: string, key: string, rest?: Record<string, unknown>, metadata?: Partial<ObjectMeta>): KubeObject;
  /** Writes the changed object, including its status. */
  edit(plural: string, key: string, change: (object: KubeObject) => void): void;
  delete(plural: string, key: string, options?: Parameters<LoopbackClient['delete']>[4]): void;
  /** `namespace/name` of all objects. */
  list(plural: string): string[];
  define(resource: Resource): void;
}

const hasSpecFinalizers = (namespace: KubeObject): boolean => {
  const spec = namespace['spec'];
  return isObject(spec) && Array.isArray(spec['finalizers']) && spec['finalizers'].length > 0;
};

const held = (object: KubeObject): boolean => (object.metadata.finalizers ?? []).length > 0;

const kinds = (): Resource[] => [
  testResource(
    'namespaces',
    'Namespace',
    { namespaced: false },
    {
      hasStatus: true,
      prepareForCreate: (namespace) => {
        namespace['spec'] = { finalizers: ['kubernetes'] };
        namespace['status'] = { phase: 'Active' };
      },
      blocksDeletion: (namespace) => held(namespace) || hasSpecFinalizers(namespace),
    },
  ),
  testResource(
    'pods',
    'Pod',
    {},
    {
      hasStatus: true,
      hasGeneration: true,
      graceful: true,
      gracePeriodSeconds: (pod, requested) =>
        asPod(pod).spec.nodeName ? (requested ?? asPod(pod).spec.terminationGracePeriodSeconds ?? 30) : 0,
    },
  ),
  testResource('nodes', 'Node', { namespaced: false }, { hasStatus: true }),
  testResource('leases', 'Lease', { group: 'coordination.k8s.io' }),
  testResource('events', 'Event'),
  testResource('configmaps', 'ConfigMap'),
  testResource('secrets', 'Secret'),
  testResource('serviceaccounts', 'ServiceAccount'),
  testResource('customresourcedefinitions', 'CustomResourceDefinition', {
    group: 'apiextensions.k8s.io',
    namespaced: false,
  }),
];

const split = (key: string): [namespace: string, name: string] => {
  const [first = '', second] = key.split('/');
  return second === undefined ? ['', first] : [first, second];
};

export const testCluster = (): TestCluster => {
  const clock = manualClock();
  const registry = createRegistry(kinds());
  let serial = 0;
  const core: Core = { clock, storage: memoryStorage(), random: () => 0.5, uuid: () => `uid-${++serial}`, registry };
  const local = createLoopbackClient(core, allowAll);
  const errors: unknown[] = [];

  const resourceOf = (plural: string): Resource => {
    const resource = local.resources().find((entry) => entry.plural === plural);
    if (!resource) throw new Error(`no kind ${plural}`);
    return resource;
  };
  const get = (plural: string, key: string): KubeObject | undefined => local.get(resourceOf(plural), ...split(key));
  const edit: TestCluster['edit'] = (plural, key, change) => {
    const [namespace] = split(key);
    const old = get(plural, key);
    if (!old) throw new Error(`no ${plural} ${key}`);
    const object = copy(old);
    change(object);
    const { resourceVersion } = local.update(resourceOf(plural), namespace, object, controllerManager).metadata;
    if (!get(plural, key) || !resourceOf(plural).strategy.hasStatus || object['status'] === undefined) return;
    object.metadata.resourceVersion = resourceVersion;
    local.updateStatus(resourceOf(plural), namespace, object, controllerManager);
  };

  const api: LoopbackClient = {
    ...local,
    bind: (namespace, pod, node) =>
      edit('pods', `${namespace}/${pod}`, (object) => (asPod(object).spec.nodeName = node)),
    finalizeNamespace: (name) => edit('namespaces', name, (object) => (object['spec'] = { finalizers: [] })),
  };

  return {
    api,
    clock,
    errors,
    get,
    edit,
    run: (controller) => controller((error) => errors.push(error)).start(api),
    create: (plural, key, rest = {}, metadata = {}) => {
      const resource = resourceOf(plural);
      const [namespace, name] = split(key);
      const object = newObject(apiVersionOf(resource), resource.kind, { ...metadata, name }, rest);
      return api.create(resource, namespace, object, controllerManager);
    },
    delete: (plural, key, options) => void api.delete(resourceOf(plural), ...split(key), controllerManager, options),
    list: (plural) =>
      api
        .list(resourceOf(plural), '')
        .map(({ metadata }) => (metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name)),
    define: (resource) => {
      registry.setCustom(resource.plural, [resource]);
      const name = `${resource.plural}.${resource.group}`;
      const definition = newObject('apiextensions.k8s.io/v1', 'CustomResourceDefinition', { name });
      api.create(resourceOf('customresourcedefinitions'), '', definition, controllerManager);
    },
  };
};
