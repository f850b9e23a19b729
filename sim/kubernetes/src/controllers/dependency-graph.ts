import type { KubeObject, OwnerReference } from '../object.ts';
import type { Resource } from '../resource.ts';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** What the garbage collector stores of an object. */
export interface Item {
  uid: string;
  resource: Resource;
  namespace: string;
  name: string;
  owners: readonly OwnerReference[];
  /** Foreground deletion: waits until its dependents are gone. */
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

/** Owners and dependents, by UID. An owner may have dependents here without existing. */
interface DependencyGraph {
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

/**
 * solid: the owner exists. dangling: no object has that UID. waiting: the owner is being deleted in the foreground and waits for its
 * dependents. unknown: a kind that is not served (yet). misplaced: a namespaced owner of a cluster-scoped object, which cannot be resolved.
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting' | 'unknown' | 'misplaced';

interface OwnershipFacts {
  owners: readonly { uid: string; state: OwnerState }[];
  finalizers: readonly string[];
  dependents: readonly { deletingDependents: boolean }[];
}

export type CollectionDecision =
  | { kind: 'keep' }
  /** Not known yet; retry later. */
  | { kind: 'postpone' }
  /** Has a live owner: remove the other references. */
  | { kind: 'strip'; uids: string[] }
  /** Has no live owner. `unblock`: first stop blocking the deletion of its owners, because there may be a cycle. */
  | { kind: 'delete'; policy: 'Orphan' | 'Background' | 'Foreground'; unblock: boolean };

const inheritedPolicy = (finalizers: readonly string[]): 'Orphan' | 'Background' | 'Foreground' => {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
};

/** What the garbage collector does with an object that is not being deleted. */
export const decideCollection = ({ owners, finalizers, dependents }: OwnershipFacts): CollectionDecision => {
  const states = new Set(owners.map((owner) => owner.state));
  // One unresolvable reference decides, whatever the others are.
  const unresolved = owners.find(({ state }) => state === 'unknown' || state === 'misplaced');
  if (unresolved) return { kind: unresolved.state === 'unknown' ? 'postpone' : 'keep' };
  if (owners.length === 0) return { kind: 'keep' };
  if (states.has('solid')) {
    const uids = owners.filter(({ state }) => state !== 'solid').map(({ uid }) => uid);
    return uids.length === 0 ? { kind: 'keep' } : { kind: 'strip', uids };
  }
  if (states.has('waiting') && dependents.length > 0) {
    const unblock = dependents.some((dependent) => dependent.deletingDependents);
    return { kind: 'delete', policy: 'Foreground', unblock };
  }
  return { kind: 'delete', policy: inheritedPolicy(finalizers), unblock: false };
};
