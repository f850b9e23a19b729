import type { RetireReason } from './decide.ts';
import type { Limits } from './limits.ts';
import {
  hasReported,
  isNodeReady,
  isOnDrainingNode,
  isSilent,
  isUnschedulable,
  type PodsByState,
} from './pod-state.ts';
import type { PodFacts, PoolFacts, Snapshot } from './snapshot.ts';

/** Criteria by which a Pod is less useful than another, the strongest first. */
const sortCriteria: readonly ((pod: PodFacts) => boolean)[] = [
  ({ node }) => node.kind === 'unscheduled',
  ({ phase }) => phase === 'pending',
  ({ isStale }) => isStale,
  isOnDrainingNode,
  ({ runnerID }) => runnerID === undefined,
];

/** For `sort`: the Pods to retire first. Among equals the youngest; the UID makes the order total, so that all passes choose the same. */
export const leastUsefulFirst = (a: PodFacts, b: PodFacts): number => {
  for (const has of sortCriteria) if (has(a) !== has(b)) return has(a) ? -1 : 1;
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.uid < b.uid ? -1 : 1;
};

/** The number of replicas that may lack a warm runner because of a rollout. */
export const rollCap = ({ replicas, maxConcurrentPercent }: PoolFacts): number =>
  Math.max(1, Math.floor((replicas * maxConcurrentPercent) / 100));

/**
 * The number of replicas without a warm runner: retired ones, their starting replacements, and those deleted for other reasons. So a
 * rollout waits until its replacements are warm, and retires nothing in a pool that is short.
 *
 * A new Pod for which there is no room does not count: it was no runner before the rollout either, and a rollout that waits for it would
 * wait for ever. But while Pods terminate, it waits for one of their slots, and does count.
 */
export const rollInFlight = (
  byState: PodsByState,
  { replicas }: PoolFacts,
  candidates: readonly ScaleDownCandidate[] = [],
): number => {
  const leaving = new Set(candidates.map(({ pod }) => pod.uid));
  const staying = [...byState.unregistered, ...byState.idle, ...byState.busy].filter(({ uid }) => !leaving.has(uid));
  // A Pod with the old image still works. A retired one that still got a job is busy.
  const good = staying.filter((pod) => pod.isStale || hasReported(pod)).length;
  const atWork = byState.retired.filter(({ job }) => job === 'started').length;
  const unschedulable = staying.filter((pod) => !pod.isStale && isUnschedulable(pod)).length;
  const awaited = Math.min(unschedulable, byState.terminating.filter(({ phase }) => phase !== 'ended').length);
  return Math.max(0, replicas - good - atWork - (unschedulable - awaited));
};

/** The Pods that a rollout retires next, of those without a job. A job on an old image finishes. */
const podsToRoll = (
  free: readonly PodFacts[],
  byState: PodsByState,
  pool: PoolFacts,
  candidates: readonly ScaleDownCandidate[],
): readonly PodFacts[] =>
  free.filter(({ isStale }) => isStale).slice(0, Math.max(0, rollCap(pool) - rollInFlight(byState, pool, candidates)));

/** A Pod without a job that is to be retired. */
export interface ScaleDownCandidate {
  readonly pod: PodFacts;
  readonly reason: RetireReason;
}

/** The Pods to retire, each for the first reason that applies. */
export const scaleDownCandidates = (
  { now, pool, github }: Snapshot,
  byState: PodsByState,
  limits: Limits,
): readonly ScaleDownCandidate[] => {
  // Without GitHub it is not known whether an idle runner has a job.
  const free = [...byState.unregistered, ...(github === 'usable' ? byState.idle : [])].sort(leastUsefulFirst);
  const unreachable = (pod: PodFacts): boolean => isUnreachable(pod, now, limits);
  const offline =
    github === 'usable' ? withReason([...byState.idle, ...byState.busy].filter(unreachable), 'runner is offline') : [];
  const reachable = free.filter((pod) => !unreachable(pod));
  if (pool.isDeleting) return [...offline, ...withReason(reachable, 'pool is deleted')];

  const drained = withReason(reachable.filter(isOnDrainingNode), 'node drains');
  const others = reachable.filter((pod) => !isOnDrainingNode(pod));

  const staying =
    byState.unregistered.length + byState.idle.length + byState.busy.length - offline.length - drained.length;
  const surplus = withReason(others.slice(0, Math.max(0, staying - pool.replicas)), 'surplus');
  const needed = others.slice(surplus.length);

  const gone = [...offline, ...drained, ...surplus];
  return [...gone, ...withReason(podsToRoll(needed, byState, pool, gone), 'stale image')];
};

/**
 * Its virtual machine runs, but its runner has long been offline at GitHub: it never registered, or its guest never reported, so it gets no
 * job. Excludes a Pod that has reported a job: its connection may be interrupted.
 */
const isUnreachable = (pod: PodFacts, now: number, { stuckAfterMs }: Limits): boolean =>
  pod.phase === 'running' &&
  isNodeReady(pod) &&
  (pod.job === 'none' || isSilent(pod)) &&
  pod.offlineSince !== undefined &&
  now - pod.offlineSince >= stuckAfterMs;

const withReason = (pods: readonly PodFacts[], reason: RetireReason): readonly ScaleDownCandidate[] =>
  pods.map((pod) => ({ pod, reason }));
