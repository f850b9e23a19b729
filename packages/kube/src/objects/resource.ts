import type { KubeObject } from './object.ts';

/**
 * A kind and where it is served. `T` is what its objects look like; it exists for the compiler alone (`ofType` is never set).
 */
export interface Resource<T extends KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly ofType?: T;
}

export const defineResource = <T extends KubeObject>(definition: Omit<Resource<T>, 'ofType'>): Resource<T> =>
  definition;

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === '' ? version : `${group}/${version}`;
