import type { Clock } from '@tartan/kube/clock';
import type { Storage } from '../storage/storage.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Registry } from './registry.ts';

/** What every operation stands on. */
export interface Core {
  storage: Storage;
  clock: Clock;
  random(): number;
  uuid(): string;
  registry: Registry;
}

export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  resource.namespaced ? `${resource.prefix}${namespace}/${name}` : `${resource.prefix}${name}`;

/** Of one namespace, or of all when it is ''. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  resource.namespaced && namespace !== '' ? `${resource.prefix}${namespace}/` : resource.prefix;

/** As stored, seen in this resource's version. */
export const read = (core: Core, resource: Resource, namespace: string, name: string): KubeObject | undefined => {
  const stored = core.storage.get(keyOf(resource, namespace, name));
  return stored && resource.fromStored(stored);
};
