/** A Pod that an agent holds, and its Node. Times in milliseconds. */
export interface Snapshot {
  /** Undefined: the Pod does not exist. */
  pod: PodFacts | undefined;
  node: NodePresence;
  /** Wall clock, to compare with `deletedAt`. */
  now: number;
  /** How long the agent of a missing Node may take to come back and clean up. */
  graceMs: number;
}

export interface PodFacts {
  /** It has the agent's finalizer. */
  held: boolean;
  /** When the Pod should have ended: its deletionTimestamp. Undefined: it is not deleted. */
  deletedAt: number | undefined;
}

export type NodePresence =
  /** The Pod was never bound to a Node, so there is no VM. */
  | { kind: 'unbound' }
  /** Its Node exists, in any state: the agent is responsible. */
  | { kind: 'present' }
  /** The Node is missing, for that long as far as this process has seen. */
  | { kind: 'absent'; forMs: number };

export type Decision =
  | { kind: 'skip'; reason: 'podGone' | 'notHeld' | 'notDeleted' | 'nodeExists' }
  /** Requeue after that time. */
  | { kind: 'wait'; forMs: number }
  | { kind: 'release'; reason: 'nodeGone' | 'neverBound' };

/** A Mac that reboots is back by then. */
export const defaultGraceMs = 5 * 60_000;

/** A Pod may have hours to end, and the clock may be set: an earlier requeue does no harm. */
const maxWaitMs = 10 * 60_000;

const skip = (reason: Extract<Decision, { kind: 'skip' }>['reason']): Decision => ({ kind: 'skip', reason });

/**
 * Whether the finalizer is removed without the agent.
 *
 *   | Pod                         | Node    | then                                                                 |
 *   |-----------------------------|---------|----------------------------------------------------------------------|
 *   | gone, not held, not deleted | any     | skip                                                                 |
 *   | held and deleted            | exists  | skip: a NotReady Mac may still run the VM, and its agent comes back  |
 *   | held and deleted            | absent  | release once both the deletion and the absence are a grace old       |
 *   | held and deleted            | unbound | release once the deletion is a grace old                             |
 */
export const decide = ({ pod, node, now, graceMs }: Snapshot): Decision => {
  if (pod === undefined) return skip('podGone');
  if (!pod.held) return skip('notHeld');
  if (pod.deletedAt === undefined) return skip('notDeleted');
  if (node.kind === 'present') return skip('nodeExists');
  const ageMs = Math.min(now - pod.deletedAt, node.kind === 'absent' ? node.forMs : Infinity);
  if (ageMs >= graceMs) return { kind: 'release', reason: node.kind === 'absent' ? 'nodeGone' : 'neverBound' };
  // An invalid time (NaN) makes no comparison true, and so waits.
  const leftMs = graceMs - ageMs;
  return { kind: 'wait', forMs: leftMs < maxWaitMs ? leftMs : maxWaitMs };
};
