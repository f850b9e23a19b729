import type { MacHostSpec, MacHostStatus } from '@tartan/api';

/** All that matters of one Mac. */
export interface Snapshot {
  readonly id: string;
  readonly spec: MacHostSpec;
  /** What is remembered; what the Mac is comes from `server`. */
  readonly status: MacHostStatus;
  readonly server: ServerView;
  readonly holder: Holder;
  /** Machines that have reserved it, or merely bear its name. `spec.consumerRef` is not asked. */
  readonly claimants: readonly Claimant[];
  readonly poolPrefixes: ReadonlySet<string>;
  /** Why a person has told us to leave the Mac alone. */
  readonly abandoned: string | undefined;
  /** Nodes that say that they are this Mac, and take Pods. */
  readonly schedulableNodes: readonly string[];
  /** Of a Mac that is free: machines look for one like it. `family`: it is to be reinstalled with that, in so many milliseconds. */
  readonly otherOS: { readonly family: string | undefined; readonly inMs: number } | undefined;
  /** Why nothing may be done to it, for people. */
  readonly pauses: readonly string[];
  /** For a pool name, should one be needed. */
  readonly suffix: string;
  readonly now: number;
  readonly limits: Limits;
}

/** `fresh`: Scaleway was asked for this very server in this pass. Nothing is done to a server on anything older. */
export type ServerView =
  | { readonly kind: 'seen'; readonly server: ServerFacts; readonly at: number; readonly fresh: boolean }
  /** Not in the list of its zone; with `fresh` Scaleway does not know it. */
  | { readonly kind: 'missing'; readonly fresh: boolean }
  | { readonly kind: 'unknown'; readonly why: string };

export interface ServerFacts {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly os: { readonly name: string; readonly family: string } | undefined;
  readonly ip: string;
}

/** The object of `spec.consumerRef`. */
export type Holder =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'alive';
      readonly type: string;
      /** It was made ready once: virtual machines may run there. */
      readonly provisioned: boolean;
      /** Read from the API server in this pass. */
      readonly fresh: boolean;
    }
  /** The cache has no machine of that UID, or one with another server. It may be behind: ask the API server. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'elsewhere'; readonly serverID: string }
  /** Not of a kind that we know. Somebody else's business. */
  | { readonly kind: 'unknown' };

export interface Claimant {
  /** `namespace/name` */
  readonly key: string;
  readonly by: 'name' | 'serverID';
}

/** The view of a server that has been seen. */
export type SeenServer = Extract<ServerView, { kind: 'seen' }>;
export type Release = NonNullable<MacHostSpec['release']>;
export type Wipe = NonNullable<MacHostStatus['wipe']>;
export type Claim = NonNullable<MacHostStatus['claim']>;
export type Quarantine = NonNullable<MacHostStatus['quarantine']>;

const minute = 60_000;
const hour = 60 * minute;

/** How patient this controller is, in milliseconds. */
export interface Limits {
  /** Between two looks at a server that is expected to change. */
  readonly pollMs: number;
  /** A call that changes a server is made within this time of the look that it was decided on, or not at all. */
  readonly maxCallAgeMs: number;
  /**
   * How long a server must have borne its holder's name before anything is done on the Mac. Scaleway has no conditional rename: a manager
   * of another cluster that saw the pool name may still rename the server `maxCallAgeMs` later. Longer than that, so that the last one wins.
   */
  readonly claimConfirmMs: number;
  /** A Mac that was found unwiped is left alone for this long: if another cluster holds it, that one puts its name right meanwhile. */
  readonly unwipedGraceMs: number;
  /** A reinstall that was asked for shows within this; if not, it is asked for again. Doubles with every attempt. */
  readonly reinstallStartMs: number;
  /** Between a reinstall that failed and the next, counted from the request. Doubles with every attempt. One takes 5 to 15 min. */
  readonly retryMs: number;
  /** The longest that either becomes; and the only one for a Mac that counts as stuck. */
  readonly longestRetryMs: number;
  /**
   * So many attempts, and a release that is at least as old as `stuckMs`: the Mac counts as one that cannot be wiped. The time is there
   * so that a short outage of Scaleway is no verdict on every Mac that happens to be on its way back.
   */
  readonly wipesBeforeQuarantine: number;
  readonly stuckMs: number;
  /** The first quarantine. The second lasts twice, the third three times as long. */
  readonly quarantineMs: number;
  readonly longestQuarantineMs: number;
  /** Between two looks at what is only reported, since time alone can change the verdict. */
  readonly reportMs: number;
  /** A machine has looked for a Mac in vain for so long before a free one is reinstalled with the macOS that it wants. */
  readonly demandMs: number;
}

export const defaultLimits: Limits = {
  pollMs: 10_000,
  maxCallAgeMs: 10_000,
  claimConfirmMs: 20_000,
  unwipedGraceMs: 3 * minute,
  reinstallStartMs: 2 * minute,
  retryMs: 15 * minute,
  longestRetryMs: 2 * hour,
  wipesBeforeQuarantine: 3,
  stuckMs: hour,
  quarantineMs: 24 * hour,
  longestQuarantineMs: 7 * 24 * hour,
  reportMs: 5 * minute,
  demandMs: minute,
};
