import { foregroundFinalizer, orphanFinalizer } from './dependency-graph.ts';

/**
 * solid: the owner lives. dangling: nobody with that UID is there. waiting: the owner is being deleted in the foreground and
 * waits for its dependents. unknown: a kind that is not served (yet). misplaced: a namespaced owner of a cluster-scoped object,
 * which nothing can resolve.
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting' | 'unknown' | 'misplaced';

export interface Owned {
  owners: readonly { uid: string; state: OwnerState }[];
  finalizers: readonly string[];
  dependents: readonly { deletingDependents: boolean }[];
}

export type Verdict =
  | { kind: 'keep' }
  /** Nobody can tell now; ask again later. */
  | { kind: 'postpone' }
  /** Somebody owns it: take out the references that no longer count. */
  | { kind: 'strip'; uids: string[] }
  /** Nobody owns it. `unblock`: first let its owners go without it, for there may be a cycle. */
  | { kind: 'delete'; policy: 'Orphan' | 'Background' | 'Foreground'; unblock: boolean };

const inheritedPolicy = (finalizers: readonly string[]): 'Orphan' | 'Background' | 'Foreground' => {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
};

/** What the garbage collector does with an object that is not being deleted. */
export const judge = ({ owners, finalizers, dependents }: Owned): Verdict => {
  const states = new Set(owners.map((owner) => owner.state));
  // The first reference that cannot be resolved ends the matter, whatever the others are.
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
