import { manualClock, type ManualClock } from '@tartan/kube/clock';
import type { KubeObject } from '../../object.ts';
import { createRegistry } from '../../registry/registry.ts';
import { memoryStorage } from '../../storage/memory.ts';
import { testResource } from '../../testing/test-resource.ts';
import { type ListOptions, parseListOptions } from '../list-options.ts';
import type { Core } from '../store.ts';

/** For tests of the pipeline: a namespaced kind without special rules, and a core to store it. */

export const things = testResource(
  'things',
  'Thing',
  { group: 'example.com', custom: true, prefix: 'example.com/things/' },
  { selectableFields: (object) => ({ 'spec.colour': typeof object['colour'] === 'string' ? object['colour'] : '' }) },
);

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
