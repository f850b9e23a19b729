import { isAlive, isSilent, reportsNoJob } from './pod-state.ts';
import type { PodFacts } from './snapshot.ts';

/** How long things may take. Milliseconds. */
export interface Limits {
  /**
   * So long after a runner was retired, a job that was on its way to it has shown itself. The guest needs seconds to begin one, its agent
   * seconds to tell; that an agent is silent is known after 40 seconds.
   */
  readonly settleMs: number;
  /** A Pod that starts, or goes, for longer than this is stuck. */
  readonly stuckAfterMs: number;
}

export const defaultLimits: Limits = { settleMs: 2 * 60_000, stuckAfterMs: 10 * 60_000 };

/**
 * From when on a retired Pod that shows no job has none. GitHub's word at its removal is not a proof: it may have given out a job a moment
 * before. Such a job shows itself in time, if its agent could tell all the while: a Mac that was silent gets the time anew.
 */
export const settlePeriodEnd = ({ retiredAt, node }: PodFacts, { settleMs }: Limits): number | undefined => {
  if (retiredAt === undefined || node.kind === 'gone') return undefined;
  const heardSince = node.kind === 'exists' ? node.readyChangedAt : retiredAt;
  return heardSince === undefined ? undefined : Math.max(retiredAt, heardSince) + settleMs;
};

/** When it was retired no listener was connected, by GitHub's word, or as its virtual machine started later: nobody could have a job. */
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
