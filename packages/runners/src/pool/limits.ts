import { isAlive, isSilent, reportsNoJob } from './pod-state.ts';
import type { PodFacts } from './snapshot.ts';

/** Time limits in milliseconds. */
export interface Limits {
  /**
   * After this time a job that was assigned just before a runner was retired has been reported. The guest needs seconds to begin it, and
   * its agent seconds to report it; a silent agent is noticed after 40 seconds.
   */
  readonly settleMs: number;
  /** A Pod that starts or terminates for longer than this is stuck. */
  readonly stuckAfterMs: number;
}

export const defaultLimits: Limits = { settleMs: 2 * 60_000, stuckAfterMs: 10 * 60_000 };

/**
 * From when on a retired Pod that reports no job has none. GitHub's removal of the runner does not prove it: GitHub may have assigned a job
 * just before. Such a job is reported in time if the agent was Ready throughout; when its Node was not Ready, the period starts again.
 */
export const settlePeriodEnd = ({ retiredAt, node }: PodFacts, { settleMs }: Limits): number | undefined => {
  if (retiredAt === undefined || node.kind === 'gone') return undefined;
  const heardSince = node.kind === 'exists' ? node.readyChangedAt : retiredAt;
  return heardSince === undefined ? undefined : Math.max(retiredAt, heardSince) + settleMs;
};

/** No listener was connected when it was retired: GitHub showed it offline, or its virtual machine started later. So it has no job. */
const hadNoListener = ({ isRetiredOffline, retiredAt, runningSince }: PodFacts): boolean =>
  isRetiredOffline || (retiredAt !== undefined && runningSince !== undefined && runningSince > retiredAt);

/** False if unknown, unless there was no listener. Comparisons with an invalid time (NaN) are false. */
export const isSettlePeriodOver = (pod: PodFacts, now: number, limits: Limits): boolean => {
  const at = settlePeriodEnd(pod, limits);
  return at !== undefined && now >= at && (reportsNoJob(pod) || (hadNoListener(pod) && isSilent(pod)));
};

/** `terminating`: deleted, but still exists. `unbooted`: on a Mac, but its virtual machine does not run. `silent`: it never reported. */
export interface StuckPod {
  readonly kind: 'terminating' | 'unbooted' | 'silent';
  readonly pod: PodFacts;
  readonly since: number;
}

/** What a Pod waits for, and since when. Undefined: nothing. A Pod that waits for a Mac is not stuck: NoRoom reports it. */
const waitingSince = (pod: PodFacts): StuckPod | undefined => {
  const { deletedAt, boundAt, runningSince, node, phase, job } = pod;
  if (deletedAt !== undefined) return { kind: 'terminating', pod, since: deletedAt };
  if (!isAlive(pod) || node.kind !== 'exists') return undefined;
  if (phase === 'pending') return boundAt === undefined ? undefined : { kind: 'unbooted', pod, since: boundAt };
  const since = runningSince ?? boundAt;
  return job !== 'unknown' || since === undefined ? undefined : { kind: 'silent', pod, since };
};

/** When a Pod counts as stuck, if it does not change. */
export const stuckAt = (pod: PodFacts, { stuckAfterMs }: Limits): number | undefined => {
  const wait = waitingSince(pod);
  return wait && wait.since + stuckAfterMs;
};

/** The stuck Pods, oldest first. */
export const stuckPods = (pods: readonly PodFacts[], now: number, { stuckAfterMs }: Limits): readonly StuckPod[] =>
  pods
    .flatMap((pod) => waitingSince(pod) ?? [])
    .filter(({ since }) => now - since >= stuckAfterMs)
    .sort((a, b) => a.since - b.since || (a.pod.name < b.pod.name ? -1 : 1));
