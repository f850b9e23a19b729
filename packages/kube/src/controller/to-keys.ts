import { type KubeObject, keyOf } from '../objects/object.ts';
import { getController } from '../objects/owners.ts';
import type { ToKeys } from './from-cache.ts';

/** The object itself. */
export const itsOwnKey: ToKeys<KubeObject> = ({ metadata }) => [keyOf(metadata)];

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** The object of that kind that controls it, whatever the version its owner reference names. */
export const keyOfController =
  (owner: { group: string; kind: string; namespaced: boolean }): ToKeys<KubeObject> =>
  (object) => {
    const reference = getController(object);
    if (!reference || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group) return [];
    const { namespace } = object.metadata;
    return [keyOf({ name: reference.name, ...(owner.namespaced && namespace !== undefined && { namespace }) })];
  };
