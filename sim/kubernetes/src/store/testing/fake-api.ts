import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { allowAll, type Authorizer } from '../../authorization/authorizer.ts';
import { invalidObject, resourceVersionConflict } from '../../errors/api-error.ts';
import type { Cause } from '../../errors/field-errors.ts';
import { copy, deepFreeze, type KubeObject } from '../../object.ts';
import { plainStrategy, type Resource, type Strategy, type View } from '../../resource.ts';
import type { Change } from '../../storage/storage.ts';
import { testResource } from '../../testing/test-resource.ts';
import type { LoopbackClient } from '../loopback-client.ts';

/** For tests: objects in a map, with the part of the API that authentication, kubelet proxy and certificate controllers use. */

export const fakeResource = (
  group: string,
  plural: string,
  strategy: Strategy = plainStrategy,
  views: Record<string, View> = {},
): Resource =>
  testResource(
    plural,
    plural,
    {
      group,
      namespaced: !['nodes', 'certificatesigningrequests'].includes(plural),
      subresources: Object.entries(views).map(([name, view]) => ({
        name,
        group,
        version: 'v1',
        kind: plural,
        verbs: [],
        view,
      })),
    },
    strategy,
  );

export interface FakeApi extends LoopbackClient {
  clock: ManualClock;
  put(plural: string, object: { metadata: Partial<KubeObject['metadata']> } & Record<string, unknown>): KubeObject;
  remove(plural: string, namespace: string, name: string): void;
}

const unused = (): never => {
  throw new Error('the fake API does not do this');
};

export const fakeApi = (authorize: Authorizer = allowAll, extra: readonly Resource[] = []): FakeApi => {
  const plurals = ['secrets', 'serviceaccounts', 'pods', 'nodes'];
  const resources = [...plurals.map((plural) => fakeResource('', plural)), ...extra];
  const objects = new Map<string, KubeObject>();
  const listeners = new Map<string, Set<(change: Change) => void>>();
  let revision = 0;
  const keyOf = (plural: string, namespace: string, name: string): string => `${plural}/${namespace}/${name}`;
  const store = (plural: string, object: KubeObject): KubeObject => {
    const key = keyOf(plural, object.metadata.namespace ?? '', object.metadata.name);
    const previous = objects.get(key);
    const stored = deepFreeze(copy(object));
    objects.set(key, stored);
    for (const listener of listeners.get(plural) ?? []) listener({ revision, key, object: stored, previous });
    return stored;
  };
  const stamped = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(++revision) },
  });
  const get: LoopbackClient['get'] = (resource, namespace, name) =>
    objects.get(keyOf(resource.plural, namespace, name));
  const write = (
    resource: Resource,
    object: KubeObject,
    change: (old: KubeObject) => { next: KubeObject; causes: Cause[] },
  ): KubeObject => {
    const { name, namespace = '' } = object.metadata;
    const old = get(resource, namespace, name) ?? unused();
    if (object.metadata.resourceVersion !== old.metadata.resourceVersion) throw resourceVersionConflict(resource, name);
    const { next, causes } = change(old);
    if (causes.length > 0) throw invalidObject(resource, name, causes);
    return store(resource.plural, stamped(next));
  };
  const used: Partial<FakeApi> = {
    clock: manualClock(),
    authorize,
    find: (group, plural) => resources.find((each) => each.group === group && each.plural === plural),
    resources: () => [...resources],
    get,
    list: (resource) =>
      [...objects].filter(([key]) => key.startsWith(`${resource.plural}/`)).map(([, object]) => object),
    updateStatus: (resource, _namespace, object, user) =>
      write(resource, object, (old) => {
        const context = { api, user, dryRun: false };
        const next = { ...copy(old), status: copy(object['status']) };
        resource.strategy.prepareForStatusUpdate(next, old, context);
        return { next, causes: resource.strategy.validateStatus(next, old, context) };
      }),
    updateSubresource: (resource, subresource, _namespace, object, user) =>
      write(resource, object, (old) => {
        const view = resource.subresources.find(({ name }) => name === subresource)?.view ?? unused();
        const context = { api, user, dryRun: false };
        const next = view.write(old, object, context);
        return { next, causes: view.validate(next, old, context) };
      }),
    subscribe: (resource, listener) => {
      const own = listeners.get(resource.plural) ?? new Set();
      listeners.set(resource.plural, own.add(listener));
      return () => own.delete(listener);
    },
    put: (plural, object) => {
      const metadata = {
        name: 'x',
        uid: `uid-of-${object.metadata.name}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...object.metadata,
      };
      return store(
        plural,
        stamped({ apiVersion: 'v1', kind: plural, ...object, metadata: { resourceVersion: '', ...metadata } }),
      );
    },
    remove: (plural, namespace, name) => void objects.delete(keyOf(plural, namespace, name)),
  };
  const api = used as FakeApi;
  return api;
};
