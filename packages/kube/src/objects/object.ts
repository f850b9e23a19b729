/** Common fields of Kubernetes objects, in wire format. Fields unknown to these types are kept. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** An object as the server returns it: with name, uid and resource version. */
export type Live<T extends KubeObject> = T & {
  metadata: { name: string; uid: string; resourceVersion: string; creationTimestamp: string };
};

/** Identifies an object: namespaced kinds have a namespace, the others none. */
export interface ObjectName {
  name: string;
  namespace?: string;
}

/** `namespace/name`, or `name` for cluster-scoped kinds: the key of caches and work queues. */
export const keyOf = ({ name, namespace }: ObjectName): string => (namespace ? `${namespace}/${name}` : name);

export const nameOf = (key: string): ObjectName => {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

/** A kind and its API path. `T` is the type of its objects, for the compiler only (`ofType` is never set). */
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

/**
 * Resource versions of one kind are increasing decimal numbers. They exceed a double's precision, so they are compared as text: of
 * two numbers without leading zeros the longer one is greater. For versions in any other format, different ones count as newer.
 */
const decimal = /^(0|[1-9][0-9]*)$/;

export const isOlderResourceVersion = (version: string, than: string): boolean =>
  decimal.test(version) &&
  decimal.test(than) &&
  (version.length === than.length ? version < than : version.length < than.length);

export const isNewerResourceVersion = (version: string, than: string): boolean =>
  version !== than && !isOlderResourceVersion(version, than);
