import { type Standing, standingOf } from './classify.ts';
import type { PodFacts } from './snapshot.ts';

/** The Pods of a pool, by how they stand. */
export type Ranks = Readonly<Record<Standing, readonly PodFacts[]>>;

export const ranksOf = (pods: readonly PodFacts[]): Ranks => {
  const ranks: Record<Standing, PodFacts[]> = {
    going: [],
    ended: [],
    lost: [],
    retired: [],
    bare: [],
    idle: [],
    busy: [],
  };
  for (const pod of pods) ranks[standingOf(pod)].push(pod);
  return ranks;
};

/** Whoever takes one of the places of the pool. A retired one does so until it has ended: its place is not given away twice. */
export const aliveIn = ({ lost, retired, bare, idle, busy }: Ranks): readonly PodFacts[] => [
  ...lost,
  ...retired,
  ...bare,
  ...idle,
  ...busy,
];

/** How many are to be made. */
export const missingIn = (ranks: Ranks, replicas: number): number => Math.max(0, replicas - aliveIn(ranks).length);
