import { defaultLimits, isSettlePeriodOver, type Limits, settlePeriodEnd, stuckAt } from './limits.ts';
import { groupByState, livePods, missingCount, type PodsByState } from './pod-state.ts';
import { type ScaleDownCandidate, scaleDownCandidates } from './scale-down.ts';
import type { PodFacts, Snapshot } from './snapshot.ts';
import { maxFinished } from './status/finished-pods.ts';

/** The actions of one pass. A failed action does not stop the others. */
export type Plan = Readonly<ReturnType<typeof decide>>;

export type RetireReason = 'surplus' | 'stale image' | 'node drains' | 'pool is deleted' | 'runner is offline';

export interface Removal {
  readonly uid: string;
  /**
   * `settle period over`: it was retired so long ago that a job would have been reported. `never had a runner`: it has no configuration.
   * Its Secret may exist before the annotation, so the Secret is read live before the delete: if there is one, the Pod is annotated
   * instead.
   */
  readonly reason: 'settle period over' | 'never had a runner' | 'node is gone';
}

/**
 * Plans one pass over a pool.
 *
 * Guarantees: a Pod that has a job, or may have one, is in none of the lists that end it. No Pod is created while there are enough. The
 * same snapshot gives the same plan, so that an interrupted pass can be repeated.
 */
export const decide = (snapshot: Snapshot, limits: Limits = defaultLimits) => {
  const { now, pool, pods } = snapshot;
  const byState = groupByState(pods);
  const candidates = scaleDownCandidates(snapshot, byState, limits);
  // Created Pods must be drained before the pool is gone: the finalizer comes first.
  const addFinalizer = !pool.isDeleting && !pool.hasFinalizer;
  const mayCreate = !pool.isDeleting && pool.hasFinalizer && pool.hasGitHub;
  // As many as the status remembers, so that none is counted again after a crash.
  const reap = [...byState.ended].sort(oldestFirst).slice(0, maxFinished);
  return {
    addFinalizer,
    /** The number of Pods to create, each with its ServiceAccount. */
    create: mayCreate ? missingCount(byState, pool.replicas) : 0,
    /**
     * UIDs of Pods that get a runner at GitHub, and its configuration as a Secret. A deleted pool mints no runner, but a running Pod
     * without its annotation could never be retired.
     */
    register: (mayCreate || pool.isDeleting) && snapshot.github === 'usable' ? podsToRegister(byState, candidates) : [],
    /** GitHub removes their runners if they have no job. A retired Pod gets no job any more, and ends by itself. */
    retire: candidates.filter(hasRunner).map(({ pod, reason }) => ({ uid: pod.uid, reason })),
    /** Deleted now, with optimistic locking: nothing runs in them. */
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
    /** UIDs of Pods that have ended: recorded, removed at GitHub, deleted. */
    reap: reap.map(({ uid }) => uid),
    /** ServiceAccounts to delete. */
    removeAccounts: snapshot.orphanedAccounts,
    /** No Pod is left that could have a job. Terminating ones may remain; results of ended ones are recorded first. */
    removeFinalizer: pool.isDeleting && pool.hasFinalizer && livePods(byState).length + byState.ended.length === 0,
    /** When the next action is due by the clock alone. Undefined: none is. */
    requeueAt: addFinalizer || reap.length < byState.ended.length ? now : nextDeadline(snapshot, byState, limits),
  };
};

const oldestFirst = (a: PodFacts, b: PodFacts): number => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1);

const hasRunner = ({ pod }: ScaleDownCandidate): boolean => pod.runnerID !== undefined;

const remove = (pods: readonly PodFacts[], reason: Removal['reason']): readonly Removal[] =>
  pods.map(({ uid }) => ({ uid, reason }));

/** Pods on a Mac without a runner. Also running ones: they have a configuration, and only the annotation is missing. */
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
