import { mostFinished } from './finished.ts';
import { type Leaver, leaversOf } from './leavers.ts';
import { type Limits, usualLimits } from './limits.ts';
import type { Plan, Removal } from './plan.ts';
import { aliveIn, missingIn, type Ranks, ranksOf } from './ranks.ts';
import { hasSettled, settledAt } from './settled.ts';
import type { PodFacts, Snapshot } from './snapshot.ts';
import { stuckAt } from './stuck.ts';

/**
 * What is to be done for a pool.
 *
 * Guarantees: a Pod that has a job, or may have one, is in none of the lists that end it. Nobody is made while as many live as are
 * wanted. The same snapshot gives the same plan, so a pass that was cut short is simply begun anew.
 */
export const decide = (snapshot: Snapshot, limits: Limits = usualLimits): Plan => {
  const { now, pool, pods } = snapshot;
  const ranks = ranksOf(pods);
  const leavers = leaversOf(snapshot, ranks, limits);
  // Whatever is made must be drained before the pool may go: the finalizer comes first.
  const addFinalizer = !pool.isDeleting && !pool.hasFinalizer;
  const isMaking = !pool.isDeleting && pool.hasFinalizer && pool.hasGitHub;
  // As many as are remembered, so that none is counted again after a crash.
  const reap = [...ranks.ended].sort(oldestFirst).slice(0, mostFinished);
  return {
    addFinalizer,
    create: isMaking ? missingIn(ranks, pool.replicas) : 0,
    // A pool that is deleted mints nothing, but a running Pod without its mark could never be retired.
    register: (isMaking || pool.isDeleting) && snapshot.github === 'usable' ? unregistered(ranks, leavers) : [],
    retire: leavers.filter(isIdle).map(({ pod, because }) => ({ uid: pod.uid, because })),
    remove: [
      ...remove(ranks.lost, 'node is gone'),
      ...remove(
        ranks.retired.filter((pod) => hasSettled(pod, now, limits)),
        'settled',
      ),
      ...remove(
        leavers.filter((leaver) => !isIdle(leaver)).map(({ pod }) => pod),
        'never had a runner',
      ),
    ],
    reap: reap.map(({ uid }) => uid),
    removeAccounts: snapshot.idleAccounts,
    // Those that are being deleted may remain. Results of those that have ended are written down first.
    removeFinalizer: pool.isDeleting && pool.hasFinalizer && aliveIn(ranks).length + ranks.ended.length === 0,
    lookAgainAt: addFinalizer || reap.length < ranks.ended.length ? now : nextTime(snapshot, ranks, limits),
  };
};

const oldestFirst = (a: PodFacts, b: PodFacts): number => a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : 1);

const isIdle = ({ pod }: Leaver): boolean => pod.runnerID !== undefined;

const remove = (pods: readonly PodFacts[], because: Removal['because']): readonly Removal[] =>
  pods.map(({ uid }) => ({ uid, because }));

/** Whoever has a Mac and no runner. Also one that runs: it has a configuration, and only its mark is missing. */
const unregistered = ({ bare, busy }: Ranks, leavers: readonly Leaver[]): readonly string[] => {
  const leaving = new Set(leavers.map(({ pod }) => pod.uid));
  return [...bare, ...busy]
    .filter(({ uid, runnerID, node }) => runnerID === undefined && node.kind === 'there' && !leaving.has(uid))
    .map(({ uid }) => uid);
};

/** When somebody has settled, or is stuck, if nothing else happens. */
const nextTime = ({ now, pods }: Snapshot, { retired }: Ranks, limits: Limits): number | undefined => {
  let next: number | undefined;
  for (const at of [...retired.map((pod) => settledAt(pod, limits)), ...pods.map((pod) => stuckAt(pod, limits))])
    if (at !== undefined && at > now && (next === undefined || at < next)) next = at;
  return next;
};
