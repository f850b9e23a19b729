import { hasNoRoom, hasReported } from './classify.ts';
import type { Leaver } from './leavers.ts';
import type { Ranks } from './ranks.ts';
import type { PodFacts, PoolFacts } from './snapshot.ts';

/** How many places may be without a warm runner because of a roll. */
export const capOf = ({ replicas, maxConcurrentPercent }: PoolFacts): number =>
  Math.max(1, Math.floor((replicas * maxConcurrentPercent) / 100));

/**
 * How many places are without one: those that were taken, those that are filled again, and those that somebody else took away. So a
 * roll waits for what it has done to be good, and takes nothing from a pool that is short.
 *
 * A new Pod for which there is no room does not count: it was no runner before the roll either, and a roll that waited for it would
 * wait for ever. But where Pods are on their way out it waits for one of their places, and does count.
 */
export const inFlightOf = (ranks: Ranks, { replicas }: PoolFacts, leavers: readonly Leaver[] = []): number => {
  const leaving = new Set(leavers.map(({ pod }) => pod.uid));
  const staying = [...ranks.bare, ...ranks.idle, ...ranks.busy].filter(({ uid }) => !leaving.has(uid));
  // Whoever has another image is as good as it was before. One that was given a job at the last moment is at work.
  const good = staying.filter((pod) => pod.isStale || hasReported(pod)).length;
  const atWork = ranks.retired.filter(({ job }) => job === 'started').length;
  const homeless = staying.filter((pod) => !pod.isStale && hasNoRoom(pod)).length;
  const awaited = Math.min(homeless, ranks.going.filter(({ phase }) => phase !== 'ended').length);
  return Math.max(0, replicas - good - atWork - (homeless - awaited));
};

/** Who is taken next by a roll, of those that can go. Whoever has a job with the old image finishes it. */
export const rolled = (
  free: readonly PodFacts[],
  ranks: Ranks,
  pool: PoolFacts,
  leavers: readonly Leaver[],
): readonly PodFacts[] =>
  free.filter(({ isStale }) => isStale).slice(0, Math.max(0, capOf(pool) - inFlightOf(ranks, pool, leavers)));
