import { annotations, type HostState, type MacHost, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { isPoolName } from './server-name.ts';
import { wipeOf } from './wipe.ts';

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
export const defaultLimits = {
  /** Between two looks at a server that is expected to change. */
  pollMs: 10_000,
  /** A call that changes a server is made within this time of the look that it was decided on, or not at all. */
  maxCallAgeMs: 10_000,
  /**
   * How long a server must have borne its holder's name before anything is done on the Mac. Scaleway has no conditional rename: a manager
   * of another cluster that saw the pool name may still rename the server `maxCallAgeMs` later. Longer than that, so that the last one wins.
   */
  claimConfirmMs: 20_000,
  /** A Mac that was found unwiped is left alone for this long: if another cluster holds it, that one puts its name right meanwhile. */
  unwipedGraceMs: 3 * minute,
  /** A reinstall that was asked for shows within this; if not, it is asked for again. Doubles with every attempt. */
  reinstallStartMs: 2 * minute,
  /** Between a reinstall that failed and the next, counted from the request. Doubles with every attempt. One takes 5 to 15 min. */
  retryMs: 15 * minute,
  /** The longest that either becomes; and the only one for a Mac that counts as stuck. */
  longestRetryMs: 2 * hour,
  /**
   * So many attempts, and a release that is at least as old as `stuckMs`: the Mac counts as one that cannot be wiped. The time is there
   * so that a short outage of Scaleway is no verdict on every Mac that happens to be on its way back.
   */
  wipesBeforeQuarantine: 3,
  stuckMs: hour,
  /** The first quarantine. The second lasts twice, the third three times as long. */
  quarantineMs: 24 * hour,
  longestQuarantineMs: 7 * 24 * hour,
  /** Between two looks at what is only reported, since time alone can change the verdict. */
  reportMs: 5 * minute,
  /** A machine has looked for a Mac in vain for so long before a free one is reinstalled with the macOS that it wants. */
  demandMs: minute,
};

export type Limits = Readonly<typeof defaultLimits>;

/**
 * Where a Mac is between pool and machine. Undefined: nobody has seen it yet.
 *
 *   | spec        | else                                                      | state                            |
 *   |-------------|-----------------------------------------------------------|----------------------------------|
 *   | any         | a person has abandoned it                                 | abandoned                        |
 *   | release     | it has failed to be wiped time and again                  | quarantined                      |
 *   | release     |                                                           | releasing                        |
 *   | consumerRef | its holder is gone, or has another Mac                    | stranded                         |
 *   | consumerRef |                                                           | held                             |
 *   | neither     | not seen                                                  | as it was                        |
 *   | neither     | pool name                                                 | pool, or quarantined for a while |
 *   | neither     | reserved by a machine                                     | held: about to be taken          |
 *   | neither     | any other name, also that of a machine                    | stranded                         |
 */
export const stateOf = (snapshot: Snapshot): HostState | undefined => {
  const { spec, status, server, holder, claimants, poolPrefixes, now } = snapshot;
  if (snapshot.abandoned !== undefined) return 'abandoned';
  if (spec.release) return isWipeStuck(snapshot) ? 'quarantined' : 'releasing';
  if (spec.consumerRef) return holder.kind === 'gone' || holder.kind === 'elsewhere' ? 'stranded' : 'held';
  if (server.kind !== 'seen') return status.state;
  const { name } = server.server;
  if ([...poolPrefixes].some((prefix) => isPoolName(name, prefix)))
    return quarantineLeftMs(status, now) > 0 ? 'quarantined' : 'pool';
  return claimants.some(({ by }) => by === 'serverID') ? 'held' : 'stranded';
};

/** Its holder may work on it. One that was made ready has been there for longer than any claim takes. */
export const isClaimConfirmed = ({ spec, status, holder }: Snapshot): boolean =>
  (holder.kind === 'alive' && holder.provisioned) ||
  (status.claim?.settledAt !== undefined && status.claim.uid === spec.consumerRef?.uid);

/** Said once (`quarantine` of decide.ts), it stays so until it was wiped: an attempt that is under way proves nothing. */
export const isWipeStuck = ({ spec, status }: Pick<Snapshot, 'spec' | 'status'>): boolean =>
  spec.release !== undefined && wipeOf(spec.release, status)?.stuckAt !== undefined;

export const quarantineLeftMs = ({ quarantine }: Snapshot['status'], now: number): number =>
  quarantine === undefined ? 0 : Date.parse(quarantine.until) - now;

/** Why a person has told us to leave the Mac alone. Undefined: nobody has. Any value of the annotation counts, also an empty one. */
export const abandonReason = ({ metadata }: Pick<MacHost, 'metadata'>): string | undefined => {
  const reason = metadata?.annotations?.[annotations.abandon];
  return reason === undefined ? undefined : reason.trim() || 'no reason was given';
};
