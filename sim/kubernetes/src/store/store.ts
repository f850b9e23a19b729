import type { Clock } from '@tartan/kube/clock';
import type { KubeObject, ObjectMeta } from '../object.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../resource.ts';
import type { Storage } from '../storage/storage.ts';

/** The dependencies of every operation. */
export interface Core {
  storage: Storage;
  clock: Clock;
  random(): number;
  uuid(): string;
  registry: Registry;
}

export const keyOf = (resource: Resource, namespace: string, name: string): string =>
  resource.namespaced ? `${resource.prefix}${namespace}/${name}` : `${resource.prefix}${name}`;

/** For one namespace; '' for all. */
export const prefixOf = (resource: Resource, namespace: string): string =>
  resource.namespaced && namespace !== '' ? `${resource.prefix}${namespace}/` : resource.prefix;

/** The stored object, converted to this resource's version. */
export const read = (core: Core, resource: Resource, namespace: string, name: string): KubeObject | undefined => {
  const stored = core.storage.get(keyOf(resource, namespace, name));
  return stored && resource.fromStored(stored);
};

/** Characters of generated names: no vowels, so that they form no words, and no ambiguous ones. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

export const generateName = (base: string, random: () => number): string => {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[Math.floor(random() * alphabet.length)]);
  return base.slice(0, longestBase) + suffix.join('');
};

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0);

/** `metadata` has the same type in every kind, and the real server omits its empty fields. A grace period of 0 is not empty. */
export const dropEmptyMetadata = (object: KubeObject): void => {
  const { metadata } = object;
  for (const [field, value] of Object.entries(metadata)) {
    if (field !== 'deletionGracePeriodSeconds' && isEmpty(value)) delete metadata[field as keyof ObjectMeta];
  }
};
