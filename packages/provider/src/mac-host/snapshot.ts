import { annotations, type HostState, type MacHost, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { isPoolName } from './server-name.ts';
import { isQuarantined, wipeOf } from './wipe.ts';

/** The observation of one Mac. */
export interface Snapshot {
  readonly id: string;
  readonly spec: MacHostSpec;
  /** What was recorded; the present state of the Mac is in `server`. */
  readonly status: MacHostStatus;
  readonly server: ServerView;
  readonly holder: Holder;
  /** Machines that have reserved it, or only have its name. Does not include `spec.consumerRef`. */
  readonly claimants: readonly Claimant[];
  readonly poolPrefixes: ReadonlySet<string>;
  /** The reason in the annotation of a user who abandoned the Mac. */
  readonly abandoned: string | undefined;
  /** Schedulable Nodes with the provider ID of this Mac. */
  readonly schedulableNodes: readonly string[];
  /** For a free Mac, if machines look for one like it. `family`: to be reinstalled with that, in `inMs`. */
  readonly otherOS: { readonly family: string | undefined; readonly inMs: number } | undefined;
  /** Why it is paused, for users. */
  readonly pauses: readonly string[];
  /** For a pool name, if one is needed. */
  readonly suffix: string;
  readonly now: number;
  readonly limits: Limits;
}

/** `fresh`: this server was read from Scaleway in this pass. A server is changed only on a fresh view. */
export type ServerView =
  | { readonly kind: 'seen'; readonly server: ServerFacts; readonly at: number; readonly fresh: boolean }
  /** Not in the list of its zone; if `fresh`, Scaleway does not know it. */
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
      /** It was provisioned once: virtual machines may run there. */
      readonly provisioned: boolean;
      /** Read from the API server in this pass. */
      readonly fresh: boolean;
    }
  /** The cache has no machine of that UID, or one with another server. The cache may be stale: read it from the API server. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'elsewhere'; readonly serverID: string }
  /** Of an unknown kind. Left alone. */
  | { readonly kind: 'unknown' };

export interface Claimant {
  /** `namespace/name` */
  readonly key: string;
  readonly by: 'name' | 'serverID';
}

export type SeenServer = Extract<ServerView, { kind: 'seen' }>;
export type Release = NonNullable<MacHostSpec['release']>;
export type Wipe = NonNullable<MacHostStatus['wipe']>;
export type Claim = NonNullable<MacHostStatus['claim']>;
export type Quarantine = NonNullable<MacHostStatus['quarantine']>;

const minute = 60_000;
const hour = 60 * minute;

/** Intervals and limits of this controller; times in milliseconds. */
export const defaultLimits = {
  /** Poll interval of a server that is expected to change. */
  pollMs: 10_000,
  /** A call that changes a server is made within this time of the read that it is based on, or not at all. */
  maxCallAgeMs: 10_000,
  /**
   * How long a server must have its holder's name before the Mac is used. Scaleway has no conditional rename: a manager of another cluster
   * that saw the pool name may rename the server up to `maxCallAgeMs` later. This is longer, so that the last one wins.
   */
  claimConfirmMs: 20_000,
  /** A Mac that was found unwiped is left alone for this long: if another cluster holds it, that cluster restores the name meanwhile. */
  unwipedGraceMs: 3 * minute,
  /** A requested reinstall shows within this time; if not, it is requested again. Doubles with every attempt. */
  reinstallStartMs: 2 * minute,
  /** Between a failed reinstall and the next, counted from the request. Doubles with every attempt. A reinstall takes 5 to 15 min. */
  retryMs: 15 * minute,
  /** The maximum of both, and the only interval for a Mac that is stuck. */
  longestRetryMs: 2 * hour,
  /**
   * After this many attempts, and if the release is older than `stuckMs`, the Mac counts as one that cannot be wiped. The time keeps a
   * short outage of Scaleway from quarantining every Mac that is being released.
   */
  wipesBeforeQuarantine: 3,
  stuckMs: hour,
  /** The first quarantine. The second is twice, the third three times as long. */
  quarantineMs: 24 * hour,
  longestQuarantineMs: 7 * 24 * hour,
  /** Requeue interval of what is only reported, since time alone can change it. */
  reportMs: 5 * minute,
  /** How long a machine must have looked for a Mac before a free one is reinstalled with the macOS that it wants. */
  demandMs: minute,
};

export type Limits = Readonly<typeof defaultLimits>;

/**
 * The state of a Mac between pool and machine. Undefined: never seen.
 *
 *   | spec        | else                                   | state                            |
 *   |-------------|----------------------------------------|----------------------------------|
 *   | any         | a user has abandoned it                | abandoned                        |
 *   | release     | its wipe has failed repeatedly         | quarantined                      |
 *   | release     |                                        | releasing                        |
 *   | consumerRef | its holder is gone, or has another Mac | stranded                         |
 *   | consumerRef |                                        | held                             |
 *   | neither     | not seen                               | as it was                        |
 *   | neither     | pool name                              | pool, or quarantined for a while |
 *   | neither     | reserved by a machine                  | held: about to be claimed        |
 *   | neither     | any other name, also that of a machine | stranded                         |
 */
export const stateOf = (snapshot: Snapshot): HostState | undefined => {
  const { spec, status, server, holder, claimants, poolPrefixes, now } = snapshot;
  if (snapshot.abandoned !== undefined) return 'abandoned';
  if (spec.release) return isWipeStuck(snapshot) ? 'quarantined' : 'releasing';
  if (spec.consumerRef) return holder.kind === 'gone' || holder.kind === 'elsewhere' ? 'stranded' : 'held';
  if (server.kind !== 'seen') return status.state;
  const { name } = server.server;
  if ([...poolPrefixes].some((prefix) => isPoolName(name, prefix)))
    return isQuarantined(status, now) ? 'quarantined' : 'pool';
  return claimants.some(({ by }) => by === 'serverID') ? 'held' : 'stranded';
};

/** Its holder may work on it. A provisioned holder has had it for longer than any claim takes. */
export const isClaimConfirmed = ({ spec, status, holder }: Snapshot): boolean =>
  (holder.kind === 'alive' && holder.provisioned) ||
  (status.claim?.settledAt !== undefined && status.claim.uid === spec.consumerRef?.uid);

/** Once set (`quarantine` of decide.ts), it stays until the Mac is wiped: an attempt in progress proves nothing. */
export const isWipeStuck = ({ spec, status }: Pick<Snapshot, 'spec' | 'status'>): boolean =>
  spec.release !== undefined && wipeOf(spec.release, status)?.stuckAt !== undefined;

/** Why a user has abandoned the Mac; undefined: it is not abandoned. Any value of the annotation counts, also an empty one. */
export const abandonReason = ({ metadata }: Pick<MacHost, 'metadata'>): string | undefined => {
  const reason = metadata?.annotations?.[annotations.abandon];
  return reason === undefined ? undefined : reason.trim() || 'no reason was given';
};
