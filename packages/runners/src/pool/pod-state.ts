import type { PodFacts } from './snapshot.ts';

export type PodState =
  /** Somebody has deleted it: its agent looks after it. */
  | 'terminating'
  /** Its virtual machine has ended for good. */
  | 'ended'
  /** Its Mac is gone, and whatever ran on it. */
  | 'lost'
  /** GitHub has forgotten its runner. It may be at a job that was on its way. */
  | 'retired'
  /** It was given no configuration, so it cannot have a job. */
  | 'unregistered'
  /** By its own word it has no job. Whether that is so, GitHub must be asked. */
  | 'idle'
  /** It has a job, or may have one. */
  | 'busy';

/**
 * The first row that fits counts:
 *
 *   | the Pod                                                     | state        |
 *   |-------------------------------------------------------------|--------------|
 *   | is deleted                                                  | terminating  |
 *   | Succeeded, Failed                                           | ended        |
 *   | is on a Node that does not exist                            | lost         |
 *   | is marked as retired                                        | retired      |
 *   | has no runner, and no virtual machine                       | unregistered |
 *   | has a runner, and shows that it has no job                  | idle         |
 *   | anything else, such as one that runs and is not marked yet  | busy         |
 */
export const podStateOf = (pod: PodFacts): PodState => {
  if (pod.deletedAt !== undefined) return 'terminating';
  if (pod.phase === 'ended') return 'ended';
  if (pod.node.kind === 'gone') return 'lost';
  if (pod.retiredAt !== undefined) return 'retired';
  if (pod.runnerID === undefined) return hasNoVM(pod) ? 'unregistered' : 'busy';
  return reportsNoJob(pod) ? 'idle' : 'busy';
};

/** Whether the agent of its Mac says, and can be heard saying, that it has no job. What nobody says may be a job. */
export const reportsNoJob = (pod: PodFacts): boolean => isNodeReady(pod) && (hasNoVM(pod) || pod.job === 'none');

const hasNoVM = ({ phase, job }: PodFacts): boolean => phase === 'pending' && job !== 'started';

/** One that has no Mac has nobody to be heard of. */
export const isNodeReady = ({ node }: PodFacts): boolean =>
  node.kind === 'unscheduled' || (node.kind === 'exists' && node.isReady);

/** Its virtual machine runs, its agent is heard, and nobody has said a word about a job. */
export const isSilent = (pod: PodFacts): boolean =>
  pod.phase === 'running' && pod.runnerID !== undefined && pod.job === 'unknown' && isNodeReady(pod);

/** Neither ended nor deleted: it takes one of the places of the pool. */
export const isAlive = (pod: PodFacts): boolean => pod.deletedAt === undefined && pod.phase !== 'ended';

/** Its runner has said that it waits for a job, or has one. */
export const hasReported = ({ phase, job }: PodFacts): boolean => phase === 'running' && job !== 'unknown';

export const isOnDrainingNode = ({ node }: PodFacts): boolean => node.kind === 'exists' && node.isDraining;

/** It waits for a Mac, and the scheduler has found none. */
export const isUnschedulable = ({ node }: PodFacts): boolean => node.kind === 'unscheduled' && node.isUnschedulable;

export type PodsByState = Readonly<Record<PodState, readonly PodFacts[]>>;

export const groupByState = (pods: readonly PodFacts[]): PodsByState => {
  const byState: Record<PodState, PodFacts[]> = {
    terminating: [],
    ended: [],
    lost: [],
    retired: [],
    unregistered: [],
    idle: [],
    busy: [],
  };
  for (const pod of pods) byState[podStateOf(pod)].push(pod);
  return byState;
};

/** Whoever takes one of the places of the pool. A retired one does so until it has ended: its place is not given away twice. */
export const livePods = ({ lost, retired, unregistered, idle, busy }: PodsByState): readonly PodFacts[] => [
  ...lost,
  ...retired,
  ...unregistered,
  ...idle,
  ...busy,
];

/** How many are to be made. */
export const missingCount = (byState: PodsByState, replicas: number): number =>
  Math.max(0, replicas - livePods(byState).length);

/** The Pods that live, each under one word. */
export interface StatusGroups {
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

export const statusGroupsOf = (byState: PodsByState): StatusGroups => {
  const { lost, retired, unregistered, idle, busy } = byState;
  // Those that run and have not spoken yet may have a job, but nobody should be told that they do.
  const isStarting = (pod: PodFacts): boolean => isNodeReady(pod) && pod.retiredAt === undefined && !hasReported(pod);
  const holding = [...busy, ...retired.filter((pod) => !reportsNoJob(pod))];
  return {
    alive: livePods(byState),
    warm: idle.filter(hasReported),
    busy: holding.filter((pod) => !isStarting(pod)),
    retiring: [...retired.filter(reportsNoJob), ...lost],
    starting: [...unregistered, ...idle.filter((pod) => !hasReported(pod)), ...holding.filter(isStarting)],
  };
};
