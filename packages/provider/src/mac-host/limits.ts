const minute = 60_000;
const hour = 60 * minute;

/** How patient this controller is, in milliseconds. */
export interface Limits {
  /** Between two looks at a server that is expected to change. */
  readonly pollMs: number;
  /** A call that changes a server is made within this time of the look that it was decided on, or not at all. */
  readonly landMs: number;
  /**
   * How long a server must have borne its holder's name before anything is done on the Mac. Scaleway has no conditional rename: a manager
   * of another cluster that saw the pool name may still rename the server `landMs` later. Longer than that, so that the last one wins.
   */
  readonly settleMs: number;
  /** A Mac that was found unwiped is left alone for this long: if another cluster holds it, that one puts its name right meanwhile. */
  readonly doubtMs: number;
  /** A reinstall that was asked for shows within this; if not, it is asked for again. Doubles with every attempt. */
  readonly acceptMs: number;
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
  /** The first quarantine. The second lasts twice, the third three times as long (G-11). */
  readonly quarantineMs: number;
  readonly longestQuarantineMs: number;
  /** Between two looks at what is only reported, since time alone can change the verdict. */
  readonly reportMs: number;
  /** A machine has looked for a Mac in vain for so long before a free one is reinstalled with the macOS that it wants. */
  readonly demandMs: number;
}

export const usualLimits: Limits = {
  pollMs: 10_000,
  landMs: 10_000,
  settleMs: 20_000,
  doubtMs: 3 * minute,
  acceptMs: 2 * minute,
  retryMs: 15 * minute,
  longestRetryMs: 2 * hour,
  wipesBeforeQuarantine: 3,
  stuckMs: hour,
  quarantineMs: 24 * hour,
  longestQuarantineMs: 7 * 24 * hour,
  reportMs: 5 * minute,
  demandMs: minute,
};
