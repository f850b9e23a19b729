export interface Snapshot {
  deleting: boolean;
  /** Somebody else looks after the object, by an annotation of Cluster API. */
  managedElsewhere: boolean;
  /** The Cluster that owns the object. Core says so soon after both are there. */
  owner: 'none' | 'notSeenYet' | 'seen';
  /** What asks to touch nothing, in words. */
  pauses: readonly string[];
  /** It has the annotation that keeps `clusterctl move` from taking it. */
  blocksMove: boolean;
}

export type Decision =
  | { kind: 'leave'; because: 'managedElsewhere' | 'deleting' | 'noOwner' | 'ownerNotSeenYet' }
  | { kind: 'pause'; why: string }
  /** Annotate it, so that `clusterctl move` fails before it deletes anything. */
  | { kind: 'block move' }
  | { kind: 'proceed' };

/**
 * Whether an object that core made part of a Cluster may be worked on. Without its Cluster nobody knows whether it is paused, so
 * nothing is done; what comes next wakes the controller up again. Nothing of ours has to go before the object does.
 */
export const decide = ({ deleting, managedElsewhere, owner, pauses, blocksMove }: Snapshot): Decision => {
  if (managedElsewhere) return { kind: 'leave', because: 'managedElsewhere' };
  if (deleting) return { kind: 'leave', because: 'deleting' };
  if (owner === 'none') return { kind: 'leave', because: 'noOwner' };
  if (owner === 'notSeenYet') return { kind: 'leave', because: 'ownerNotSeenYet' };
  if (pauses.length > 0) return { kind: 'pause', why: pauses.join(', ') };
  if (!blocksMove) return { kind: 'block move' };
  return { kind: 'proceed' };
};
