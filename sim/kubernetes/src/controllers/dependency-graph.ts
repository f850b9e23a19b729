import type { KubeObject, OwnerReference } from '../object.ts';
import type { Resource } from '../resource.ts';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** What the garbage collector remembers of an object. */
export interface Item {
  uid: string;
  resource: Resource;
  namespace: string;
  name: string;
  owners: readonly OwnerReference[];
  /** Its deletion waits until its dependents are gone. */
  deletingDependents: boolean;
}

const isDeletingWith = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);

export const isDeletingDependents = (object: KubeObject): boolean => isDeletingWith(object, foregroundFinalizer);
export const isOrphaningDependents = (object: KubeObject): boolean => isDeletingWith(object, orphanFinalizer);

export const itemOf = (resource: Resource, object: KubeObject): Item => ({
  uid: object.metadata.uid,
  resource,
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name,
  owners: object.metadata.ownerReferences ?? [],
  deletingDependents: isDeletingDependents(object),
});

/** Who depends on whom, by UID. An owner need not exist to have dependents here. */
export interface DependencyGraph {
  get(uid: string): Item | undefined;
  put(item: Item): void;
  remove(uid: string): void;
  dependentsOf(uid: string): Item[];
}

export const dependencyGraph = (): DependencyGraph => {
  const items = new Map<string, Item>();
  const dependents = new Map<string, Set<string>>();

  const unlink = (item: Item): void => {
    for (const owner of item.owners) {
      const uids = dependents.get(owner.uid);
      uids?.delete(item.uid);
      if (uids?.size === 0) dependents.delete(owner.uid);
    }
  };

  return {
    get: (uid) => items.get(uid),
    put: (item) => {
      const old = items.get(item.uid);
      if (old) unlink(old);
      items.set(item.uid, item);
      for (const owner of item.owners) {
        const uids = dependents.get(owner.uid) ?? new Set();
        dependents.set(owner.uid, uids.add(item.uid));
      }
    },
    remove: (uid) => {
      const old = items.get(uid);
      if (old) unlink(old);
      items.delete(uid);
    },
    dependentsOf: (uid) => [...(dependents.get(uid) ?? [])].flatMap((dependent) => items.get(dependent) ?? []),
  };
};
