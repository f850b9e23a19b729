import { isAlive, isSilent, reportsNoJob } from './pod-state.ts';
import type { PodFacts } from './snapshot.ts';

/** How long things may take. Milliseconds. */
export interface Limits {
  /**
   * After this time a job that was assigned just before a runner was retired has been reported. The guest needs seconds to begin it, its agent
   * seconds to report it; a silent agent is noticed after 40 seconds.
   */
  readonly settleMs: number;
  /** A Pod that starts, or goes, for longer than this is stuck. */
  readonly stuckAfterMs: number;
}

export const defaultLimits: Limits = { settleMs: 2 * 60_000, stuckAfterMs: 10 * 60_000 };

/**
 * From when on a retired Pod that reports no job has none. That GitHub removed its runner is no proof: it may have assigned a job a moment
 * before. Such a job is reported in time, if its agent was Ready all the while: after a silence the time begins again.
 */
export const settlePeriodEnd = ({ retiredAt, node }: PodFacts, { settleMs }: Limits): number | undefined => {
  if (retiredAt === undefined || node.kind === 'gone') return undefined;
  const heardSince = node.kind === 'exists' ? node.readyChangedAt : retiredAt;
  return heardSince === undefined ? undefined : Math.max(retiredAt, heardSince) + settleMs;
};

/** No listener was connected when it was retired: GitHub showed it offline, or its virtual machine started later. So it has no job. */
const hadNoListener = ({ isRetiredOffline, retiredAt, runningSince }: PodFacts): boolean =>
  isRetiredOffline || (retiredAt !== undefined && runningSince !== undefined && runningSince > retiredAt);

/** Unknown is no, unless there was no listener. Times that are none (NaN) make no comparison true. */
export const isSettlePeriodOver = (pod: PodFacts, now: number, limits: Limits): boolean => {
  const at = settlePeriodEnd(pod, limits);
  return at !== undefined && now >= at && (reportsNoJob(pod) || (hadNoListener(pod) && isSilent(pod)));
};

/** `terminating`: deleted, and still there. `unbooted`: on a Mac, and no virtual machine runs. `silent`: one runs, and never reported. */
export interface StuckPod {
  readonly kind: 'terminating' | 'unbooted' | 'silent';
  readonly pod: PodFacts;
  readonly since: number;
}

/** What it waits for, and since when. Undefined: nothing. Who waits for a Mac is not stuck; for that there is NoRoom. */
const waitingSince = (pod: PodFacts): StuckPod | undefined => {
  const { deletedAt, boundAt, runningSince, node, phase, job } = pod;
  if (deletedAt !== undefined) return { kind: 'terminating', pod, since: deletedAt };
  if (!isAlive(pod) || node.kind !== 'exists') return undefined;
  if (phase === 'pending') return boundAt === undefined ? undefined : { kind: 'unbooted', pod, since: boundAt };
  const since = runningSince ?? boundAt;
  return job !== 'unknown' || since === undefined ? undefined : { kind: 'silent', pod, since };
};

/** When it counts as stuck, if nothing else happens to it. */
export const stuckAt = (pod: PodFacts, { stuckAfterMs }: Limits): number | undefined => {
  const wait = waitingSince(pod);
  return wait && wait.since + stuckAfterMs;
};

/** Those that are, the oldest first. */
export const stuckPods = (pods: readonly PodFacts[], now: number, { stuckAfterMs }: Limits): readonly StuckPod[] =>
  pods
    .flatMap((pod) => waitingSince(pod) ?? [])
    .filter(({ since }) => now - since >= stuckAfterMs)
    .sort((a, b) => a.since - b.since || (a.pod.name < b.pod.name ? -1 : 1));
