/** What is to be done in one pass. Each entry is an act of its own: the failure of one keeps no other from being tried. */
export interface Plan {
  readonly addFinalizer: boolean;
  /** So many Pods, each with its ServiceAccount. */
  readonly create: number;
  /** UIDs of Pods that get a runner at GitHub, and its configuration as a Secret. */
  readonly register: readonly string[];
  /** GitHub is asked to forget them if they have no job. Whoever is retired gets no job any more, and ends by itself. */
  readonly retire: readonly Retirement[];
  /** Deleted now, on the condition that they are as they were seen: nothing runs in them. */
  readonly remove: readonly Removal[];
  /** UIDs of Pods that have ended: recorded, forgotten at GitHub, deleted. */
  readonly reap: readonly string[];
  /** ServiceAccounts to delete. */
  readonly removeAccounts: readonly string[];
  /** Nothing of the pool is left that could have a job. */
  readonly removeFinalizer: boolean;
  /** When the next thing is due by the clock alone. Undefined: nothing is. */
  readonly lookAgainAt: number | undefined;
}

export type RetireReason = 'surplus' | 'stale image' | 'node drains' | 'pool is deleted' | 'runner is offline';

interface Retirement {
  readonly uid: string;
  readonly because: RetireReason;
}

export interface Removal {
  readonly uid: string;
  /**
   * `settled`: it was retired so long ago that a job would have shown itself. `never had a runner`: no configuration was given out. A
   * Secret may be there and the Pod not marked yet, so that is looked at right before the delete, uncached: with a Secret it is marked
   * instead.
   */
  readonly because: 'settled' | 'never had a runner' | 'node is gone';
}
