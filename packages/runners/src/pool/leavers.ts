import { isHeard, isOnDrainingNode, isSilent } from './classify.ts';
import type { Limits } from './limits.ts';
import { leastUsefulFirst } from './order.ts';
import type { RetireReason } from './plan.ts';
import type { Ranks } from './ranks.ts';
import { rolled } from './roll.ts';
import type { PodFacts, Snapshot } from './snapshot.ts';

/** A Pod that can go without a job being lost, and shall. */
export interface Leaver {
  readonly pod: PodFacts;
  readonly because: RetireReason;
}

/** Who shall go, each for one reason. The first that fits counts, so that nobody goes in another's stead. */
export const leaversOf = ({ now, pool, github }: Snapshot, ranks: Ranks, limits: Limits): readonly Leaver[] => {
  // Nobody goes on GitHub's word while it gives none.
  const free = [...ranks.bare, ...(github === 'usable' ? ranks.idle : [])].sort(leastUsefulFirst);
  const unreachable = (pod: PodFacts): boolean => isUnreachable(pod, now, limits);
  const offline =
    github === 'usable' ? leave([...ranks.idle, ...ranks.busy].filter(unreachable), 'runner is offline') : [];
  const reachable = free.filter((pod) => !unreachable(pod));
  if (pool.isDeleting) return [...offline, ...leave(reachable, 'pool is deleted')];

  const drained = leave(reachable.filter(isOnDrainingNode), 'node drains');
  const others = reachable.filter((pod) => !isOnDrainingNode(pod));

  const staying = ranks.bare.length + ranks.idle.length + ranks.busy.length - offline.length - drained.length;
  const surplus = leave(others.slice(0, Math.max(0, staying - pool.replicas)), 'surplus');
  const needed = others.slice(surplus.length);

  const gone = [...offline, ...drained, ...surplus];
  return [...gone, ...leave(rolled(needed, ranks, pool, gone), 'stale image')];
};

/**
 * Its virtual machine runs, and for long GitHub has known of no listener there: it never registered, or its guest never reported, and it gets
 * no job. One that has shown a job is left alone: its connection may be cut.
 */
const isUnreachable = (pod: PodFacts, now: number, { stuckAfterMs }: Limits): boolean =>
  pod.phase === 'running' &&
  isHeard(pod) &&
  (pod.job === 'none' || isSilent(pod)) &&
  pod.offlineSince !== undefined &&
  now - pod.offlineSince >= stuckAfterMs;

const leave = (pods: readonly PodFacts[], because: RetireReason): readonly Leaver[] =>
  pods.map((pod) => ({ pod, because }));
