/** A Node, its Machine, and the Pods on it. */
export interface Snapshot {
  /** Undefined: the Node does not exist. */
  node: { isMac: boolean; cordoned: boolean } | undefined;
  /** The Machine of Cluster API core. `unknown`: not read, or not found. */
  machine: 'deleting' | 'staying' | 'unknown';
  /** The Pods on the Node. Empty also if they were not listed. */
  pods: readonly PodFacts[];
}

export interface PodFacts {
  uid: string;
  /** Succeeded or Failed: it never runs again. */
  ended: boolean;
  deleting: boolean;
}

export type Decision =
  | { kind: 'skip'; reason: 'noNode' | 'notAMac' | 'notCordoned' }
  /** The Node is cordoned: one of its Pods may end, or its Machine may be deleted. */
  | { kind: 'wait' }
  | { kind: 'reap'; uids: readonly string[] };

/**
 * Which ended Pods block a drain. Core waits for Pods that it may not evict and ignores their phase, so an ended Pod would keep its Mac for
 * ever. While its Mac stays, an ended Pod stays too: users may need its logs and its result.
 */
export const decide = ({ node, machine, pods }: Snapshot): Decision => {
  if (node === undefined) return { kind: 'skip', reason: 'noNode' };
  if (!node.isMac) return { kind: 'skip', reason: 'notAMac' };
  if (!node.cordoned) return { kind: 'skip', reason: 'notCordoned' };
  if (machine !== 'deleting') return { kind: 'wait' };
  const uids = pods.filter(({ ended, deleting }) => ended && !deleting).map(({ uid }) => uid);
  return uids.length > 0 ? { kind: 'reap', uids } : { kind: 'wait' };
};
