import { hasReported, isHeard, showsNoJob } from './classify.ts';
import { aliveIn, type Ranks } from './ranks.ts';
import type { PodFacts } from './snapshot.ts';

/** The Pods that live, each under one word. */
export interface Counts {
  readonly alive: readonly PodFacts[];
  /** Wait for a job. */
  readonly warm: readonly PodFacts[];
  /** Have a job, or may have one. */
  readonly busy: readonly PodFacts[];
  /** Have none, get none, and are about to end. */
  readonly retiring: readonly PodFacts[];
  /** Have no runner yet, or it has not started. */
  readonly starting: readonly PodFacts[];
}

export const countsOf = (ranks: Ranks): Counts => {
  const { lost, retired, bare, idle, busy } = ranks;
  // Those that run and have not spoken yet may have a job, but nobody should be told that they do.
  const isStarting = (pod: PodFacts): boolean => isHeard(pod) && pod.retiredAt === undefined && !hasReported(pod);
  const holding = [...busy, ...retired.filter((pod) => !showsNoJob(pod))];
  return {
    alive: aliveIn(ranks),
    warm: idle.filter(hasReported),
    busy: holding.filter((pod) => !isStarting(pod)),
    retiring: [...retired.filter(showsNoJob), ...lost],
    starting: [...bare, ...idle.filter((pod) => !hasReported(pod)), ...holding.filter(isStarting)],
  };
};
