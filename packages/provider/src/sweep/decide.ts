import { type ConditionReason, managerFlags, serverNames } from '@tartan/api';

/** What is known of a stranded Mac. */
export interface StrandedHost {
  /** At Scaleway. Undefined: never seen there. */
  readonly name: string | undefined;
  /** Since when it is stranded, in milliseconds since the epoch. Undefined: since now. */
  readonly since: number | undefined;
  /** The pool it was claimed from, from its MacHost. */
  readonly poolPrefix: string | undefined;
  /** Its MacHost names a holder that is gone. */
  readonly hadHolder: boolean;
  /** `namespace/name` of a machine that has its name but no record of holding it. Undefined: none, or not checked. */
  readonly namesake?: string | undefined;
  /** Why it is paused, for users. */
  readonly pauses: readonly string[];
}

/** From flags. */
export interface ReclaimPolicy {
  /** The prefix of this cluster's machine names. Undefined: only report (E4). */
  readonly claimNamePrefix: string | undefined;
  /** The pool for Macs whose own is unknown. */
  readonly defaultPoolPrefix: string | undefined;
}

type StrandedReason = Exclude<ConditionReason<'MacHost', 'Stranded'>, 'Accounted'>;

/** The verdict; `reason` and `message` are those of its condition Stranded. The message changes only with the verdict. */
export type StrandedVerdict =
  | { readonly kind: 'leave'; readonly reason: Exclude<StrandedReason, 'Reclaiming'>; readonly message: string }
  | { readonly kind: 'reclaim'; readonly reason: 'Reclaiming'; readonly message: string; readonly poolPrefix: string };

/** Longer than any claim takes: the claim was abandoned. */
const maxClaimMs = 60 * 60_000;

/**
 * Whether the sweep releases a stranded Mac, and if not, why.
 *
 *   | claim-name prefix | name at Scaleway                  | pool    | then                   |
 *   |-------------------|-----------------------------------|---------|------------------------|
 *   | any               | that of a machine                 | any     | NotOurs                |
 *   | not set           | any                               | any     | ReportOnly             |
 *   | set               | claim-pending, for less than 1 h  | any     | ClaimPending           |
 *   | set               | not ours                          | any     | NotOurs                |
 *   | set               | ours, or claim-pending for longer | unknown | NoAdoptPoolPrefix      |
 *   | set               | ours, or claim-pending for longer | known   | Paused, if it is       |
 *   | set               | ours, or claim-pending for longer | known   | reclaim into that pool |
 *
 * Names with the prefix are ours. Another cluster may share the project, and its machines cannot be seen from here; a user may be about to
 * set up a Mac under any other name. A pool name is ours too if a machine of this cluster claimed the Mac and was deleted before it was
 * renamed.
 */
export const strandedVerdict = (host: StrandedHost, policy: ReclaimPolicy, now: number): StrandedVerdict => {
  const called = host.name === undefined ? 'A Mac that Scaleway has not shown yet' : `The Mac ${host.name}`;
  const lost = `${called} is in no pool and no machine knows it`;
  const pool = host.poolPrefix || policy.defaultPoolPrefix;
  const leave = (reason: Exclude<StrandedReason, 'Reclaiming'>, why: string): StrandedVerdict => ({
    kind: 'leave',
    reason,
    message: `${lost}. ${why}`,
  });

  if (host.namesake !== undefined) {
    return {
      kind: 'leave',
      reason: 'NotOurs',
      message: `${called} has the name of the machine ${host.namesake}, which has no record of holding it. It is neither adopted nor wiped. Look at who uses it; to give it to a pool, rename it at Scaleway.`,
    };
  }
  if (!policy.claimNamePrefix) {
    const then = pool ? `wiped and put back into the pool ${pool}` : 'put back into a pool';
    return leave(
      'ReportOnly',
      `Nothing is done, since this manager only reports. With ${managerFlags.orphanReclaimClaimNamePrefix} set to what the names of this cluster's machines begin with, it would be ${then} if its own name begins so.`,
    );
  }
  const isPending = host.name?.startsWith(serverNames.claimPendingPrefix) ?? false;
  // An invalid time (NaN) makes no comparison true, and so waits.
  if (isPending && !(now - (host.since ?? now) >= maxClaimMs)) {
    return leave(
      'ClaimPending',
      'Its name says that a claim is under way. If that has not changed after an hour, it is wiped and put back.',
    );
  }
  if (!isPending && !isOurs(host, policy.claimNamePrefix, pool)) {
    return leave(
      'NotOurs',
      `Nothing is done, since its name does not begin with ${policy.claimNamePrefix}: it may be another cluster's, or a person's. Look at who uses it; to give it to a pool, rename it at Scaleway.`,
    );
  }
  if (!pool) {
    return leave(
      'NoAdoptPoolPrefix',
      `It would be put back, but nobody said into which pool: set ${managerFlags.defaultAdoptPoolPrefix}.`,
    );
  }
  if (host.pauses.length > 0) {
    return leave('Paused', `Nothing is done while it is paused: ${host.pauses.join(', ')}.`);
  }
  return {
    kind: 'reclaim',
    reason: 'Reclaiming',
    message: `${lost}. It is wiped and put back into the pool ${pool}.`,
    poolPrefix: pool,
  };
};

const isOurs = ({ name, hadHolder }: StrandedHost, claimNamePrefix: string, pool: string | undefined): boolean =>
  name !== undefined && (name.startsWith(claimNamePrefix) || (hadHolder && !!pool && name.startsWith(pool)));
