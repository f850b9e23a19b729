import { defaultLimits, isSettlePeriodOver, type Limits, settlePeriodEnd, stuckAt } from './limits.ts';
import { groupByState, livePods, missingCount, type PodsByState } from './pod-state.ts';
import { type ScaleDownCandidate, scaleDownCandidates } from './scale-down.ts';
import type { PodFacts, Snapshot } from './snapshot.ts';
import { maxFinished } from './status/finished-pods.ts';

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
  readonly requeueAt: number | undefined;
}

export type RetireReason = 'surplus' | 'stale image' | 'node drains' | 'pool is deleted' | 'runner is offline';

interface Retirement {
  readonly uid: string;
  readonly because: RetireReason;
}

export interface Removal {
  readonly uid: string;
  /**
   * `settle period over`: it was retired so long ago that a job would have shown itself. `never had a runner`: no configuration was given out. A
   * Secret may be there and the Pod not marked yet, so that is looked at right before the delete, uncached: with a Secret it is marked
   * instead.
   */
  readonly because: 'settle period over' | 'never had a runner' | 'node is gone';
}

/**
 * What is to be done for a pool.
 *
 * Guarantees: a Pod that has a job, or may have one, is in none of the lists that end it. Nobody is made while as many live as are
 * wanted. The same snapshot gives the same plan, so a pass that was cut short is simply begun anew.
 */
export const decide = (snapshot: Snapshot, limits: Limits = defaultLimits): Plan => {
  const { now, pool, pods } = snapshot;
  const byState = groupByState(pods);
  const candidates = scaleDownCandidates(snapshot, byState, limits);
  // Whatever is made must be drained before the pool may go: the finalizer comes first.
  const addFinalizer = !pool.isDeleting && !pool.hasFinalizer;
  const mayCreate = !pool.isDeleting && pool.hasFinalizer && pool.hasGitHub;
  // As many as are remembered, so that none is counted again after a crash.
  const reap = [...byState.ended].sort(oldestFirst).slice(0, maxFinished);
  return {
    addFinalizer,
    create: mayCreate ? missingCount(byState, pool.replicas) : 0,
    // A pool that is deleted mints nothing, but a running Pod without its mark could never be retired.
    register: (mayCreate || pool.isDeleting) && snapshot.github === 'usable' ? podsToRegister(byState, candidates) : [],
    retire: candidates.filter(hasRunner).map(({ pod, because }) => ({ uid: pod.uid, because })),
    remove: [
      ...remove(byState.lost, 'node is gone'),
      ...remove(
        byState.retired.filter((pod) => isSettlePeriodOver(pod, now, limits)),
        'settle period over',
      ),
      ...remove(
        candidates.filter((candidate) => !hasRunner(candidate)).map(({ pod }) => pod),
        'never had a runner',
      ),
    ],
    reap: reap.map(({ uid }) => uid),
    removeAccounts: snapshot.orphanedAccounts,
    // Those that are being deleted may remain. Results of those that have ended are written down first.
    removeFinalizer: pool.isDeleting && pool.hasFinalizer && livePods(byState).length + byState.ended.length === 0,
    requeueAt: addFinalizer || reap.length < byState.ended.length ? now : nextDeadline(snapshot, byState, limits),
  };
};

const oldestFirst = (a: PodFacts, b: PodFacts): number => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1);

const hasRunner = ({ pod }: ScaleDownCandidate): boolean => pod.runnerID !== undefined;

const remove = (pods: readonly PodFacts[], because: Removal['because']): readonly Removal[] =>
  pods.map(({ uid }) => ({ uid, because }));

/** Whoever has a Mac and no runner. Also one that runs: it has a configuration, and only its mark is missing. */
const podsToRegister = (
  { unregistered, busy }: PodsByState,
  candidates: readonly ScaleDownCandidate[],
): readonly string[] => {
  const leaving = new Set(candidates.map(({ pod }) => pod.uid));
  return [...unregistered, ...busy]
    .filter(({ uid, runnerID, node }) => runnerID === undefined && node.kind === 'exists' && !leaving.has(uid))
    .map(({ uid }) => uid);
};

/** The end of the next settle period, or when the next Pod counts as stuck. */
const nextDeadline = ({ now, pods }: Snapshot, { retired }: PodsByState, limits: Limits): number | undefined => {
  const deadlines = [
    ...retired.map((pod) => settlePeriodEnd(pod, limits)),
    ...pods.map((pod) => stuckAt(pod, limits)),
  ].flatMap((at) => (at !== undefined && at > now ? [at] : []));
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
};
