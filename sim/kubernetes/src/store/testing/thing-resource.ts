import { manualClock, type ManualClock } from '@tartan/kube/clock';
import type { KubeObject } from '../../object.ts';
import { createRegistry } from '../../registry/registry.ts';
import { plainStrategy, type Resource } from '../../resource.ts';
import { memoryStorage } from '../../storage/memory.ts';
import { type ListOptions, parseListOptions } from '../list-options.ts';
import type { Core } from '../store.ts';

/** For tests of the pipeline: a namespaced kind with nothing special about it, and a core to keep some in. */

export const things: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  listKind: 'ThingList',
  plural: 'things',
  singular: 'thing',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  custom: true,
  schema: undefined,
  strategy: {
    ...plainStrategy,
    selectableFields: (object) => ({ 'spec.colour': typeof object['colour'] === 'string' ? object['colour'] : '' }),
  },
  subresources: [],
  prefix: 'example.com/things/',
  toStored: (object) => object,
  fromStored: (object) => object,
};

export const thingsCore = (historyLimit?: number): Core & { clock: ManualClock } => ({
  clock: manualClock(),
  storage: memoryStorage(historyLimit),
  random: () => 0.5,
  uuid: () => 'uid',
  registry: createRegistry([things]),
});

export const thing = (name: string, namespace = 'default', more: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, namespace, uid: name, resourceVersion: '', creationTimestamp: '' },
  ...more,
});

export const put = (core: Core, object: KubeObject): KubeObject =>
  core.storage.put(`${things.prefix}${object.metadata.namespace}/${object.metadata.name}`, object);

export const remove = (core: Core, name: string, namespace = 'default'): void => {
  core.storage.remove(`${things.prefix}${namespace}/${name}`);
};

export const options = (query: string, watch = false): ListOptions =>
  parseListOptions(new URLSearchParams(query), things, watch);
