import { isOnDrainingNode } from './classify.ts';
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
export const leaversOf = ({ pool, github }: Snapshot, ranks: Ranks): readonly Leaver[] => {
  // Nobody goes on GitHub's word while it gives none.
  const free = [...ranks.bare, ...(github === 'usable' ? ranks.idle : [])].sort(leastUsefulFirst);
  if (pool.isDeleting) return leave(free, 'pool is deleted');

  const drained = leave(free.filter(isOnDrainingNode), 'node drains');
  const others = free.filter((pod) => !isOnDrainingNode(pod));

  const staying = ranks.bare.length + ranks.idle.length + ranks.busy.length - drained.length;
  const surplus = leave(others.slice(0, Math.max(0, staying - pool.replicas)), 'surplus');
  const needed = others.slice(surplus.length);

  const gone = [...drained, ...surplus];
  return [...gone, ...leave(rolled(needed, ranks, pool, gone), 'stale image')];
};

const leave = (pods: readonly PodFacts[], because: RetireReason): readonly Leaver[] =>
  pods.map((pod) => ({ pod, because }));
