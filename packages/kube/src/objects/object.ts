/** What every Kubernetes object has in common, as it stands on the wire. Fields that these types do not name are kept, never dropped. */

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

/** An object as the server answers it: it has a name, an identity and a version. */
export type Live<T extends KubeObject> = T & {
  metadata: { name: string; uid: string; resourceVersion: string; creationTimestamp: string };
};

/** Which object: namespaced kinds have a namespace, the others have none. */
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
