/** What matters of a Node, of the Machine behind it, and of the Pods on it. */
export interface Snapshot {
  /** Undefined: there is no such Node. */
  node: { isMac: boolean; cordoned: boolean } | undefined;
  /** The Machine of Cluster API core. `unknown`: it was not looked for, or is not to be found. */
  machine: 'deleting' | 'staying' | 'unknown';
  /** Those on the Node. Empty also when nobody looked. */
  pods: readonly PodFacts[];
}

export interface PodFacts {
  uid: string;
  /** Succeeded or Failed: it never runs again. */
  ended: boolean;
  deleting: boolean;
}

export type Decision =
  | { kind: 'leave'; because: 'noNode' | 'notAMac' | 'notCordoned' }
  /** The Node is cordoned: sooner or later one of its Pods ends, or somebody deletes its Machine. */
  | { kind: 'wait' }
  | { kind: 'reap'; uids: readonly string[] };

/**
 * Which Pods hold up a drain though nothing of them runs any more. Core waits for Pods that it may not evict and never looks at their phase,
 * so the object of one that has ended would keep its Mac for ever. While its Mac stays, an ended Pod stays too: its
 * logs and its result are somebody's.
 */
export const decide = ({ node, machine, pods }: Snapshot): Decision => {
  if (node === undefined) return { kind: 'leave', because: 'noNode' };
  if (!node.isMac) return { kind: 'leave', because: 'notAMac' };
  if (!node.cordoned) return { kind: 'leave', because: 'notCordoned' };
  if (machine !== 'deleting') return { kind: 'wait' };
  const uids = pods.filter(({ ended, deleting }) => ended && !deleting).map(({ uid }) => uid);
  return uids.length > 0 ? { kind: 'reap', uids } : { kind: 'wait' };
};
