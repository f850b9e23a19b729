/** Times are milliseconds since the epoch. */

/** All that matters of a pool and its Pods. */
export interface Snapshot {
  readonly now: number;
  readonly pool: PoolFacts;
  readonly pods: readonly PodFacts[];
  /** ServiceAccounts of the pool that no Pod bears the name of. */
  readonly idleAccounts: readonly string[];
  /** Whether it makes sense to ask GitHub: no Secret, a refusal and a limit that lasts say no. What is there is left alone then. */
  readonly github: 'usable' | 'unusable';
}

export interface PoolFacts {
  readonly replicas: number;
  readonly maxConcurrentPercent: number;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** `spec.github` is set. Without it no Pod is made. */
  readonly hasGitHub: boolean;
}

export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly createdAt: number;
  /** Its image is not that of the pool. */
  readonly isStale: boolean;
  /** When it should be gone. Undefined: nobody has deleted it. */
  readonly deletedAt: number | undefined;
  /**
   * `pending`: no virtual machine runs, as far as its agent has told. `running`: one does, or did when it was last heard of. `ended`: none
   * ever will again.
   */
  readonly phase: 'pending' | 'running' | 'ended';
  readonly node: NodeFacts;
  /** Since when it is bound to a Node, or Pending for want of one. */
  readonly boundAt: number | undefined;
  /** Since when its virtual machine runs, as its agent tells. Undefined: it told of none. */
  readonly runningSince: number | undefined;
  /** The runner at GitHub. Undefined: it was given no configuration, so it has no job and gets none. */
  readonly runnerID: number | undefined;
  /** Since when GitHub does not know it any more. */
  readonly retiredAt: number | undefined;
  /** GitHub showed its runner as offline when that was done: no listener was connected, so it had no job. */
  readonly isRetiredOffline: boolean;
  /** Since when GitHub has shown its runner as offline, as far as this process has seen. Undefined: it was online, or nobody looked. */
  readonly offlineSince: number | undefined;
  /** The release of its runner, such as `2.335.0`, by the guest's own word. */
  readonly runnerVersion: string | undefined;
  /** The guest's own word, told by the agent. */
  readonly job: 'none' | 'started' | 'unknown';
}

export type NodeFacts =
  | { readonly kind: 'unbound' /** The scheduler finds no place. */; readonly noRoom: boolean }
  /** The Node does not exist: the Mac is gone, and the virtual machine with it. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'there';
      /** Its agent speaks: Ready is True. */
      readonly isHeard: boolean;
      /** When Ready became what it is. What an agent that comes back tells of its Pods may be a while behind. */
      readonly heardSince: number | undefined;
      /** Cordoned, or being deleted. */
      readonly isDraining: boolean;
    };
