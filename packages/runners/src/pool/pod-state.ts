import type { PodFacts } from './snapshot.ts';

export type PodState =
  /** It is being deleted: its agent stops it. */
  | 'terminating'
  /** Its virtual machine has ended for good. */
  | 'ended'
  /** Its Mac is gone. */
  | 'lost'
  /** Its runner is removed at GitHub. It may still have a job that was assigned just before. */
  | 'retired'
  /** It has no configuration, so it cannot have a job. */
  | 'unregistered'
  /** It reports that it has no job. GitHub must confirm that. */
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

/** The agent of its Mac is Ready and reports that it has no job. Without a report it may have one. */
export const reportsNoJob = (pod: PodFacts): boolean => isNodeReady(pod) && (hasNoVM(pod) || pod.job === 'none');

const hasNoVM = ({ phase, job }: PodFacts): boolean => phase === 'pending' && job !== 'started';

/** Also true of a Pod that has no Mac. */
export const isNodeReady = ({ node }: PodFacts): boolean =>
  node.kind === 'unscheduled' || (node.kind === 'exists' && node.isReady);

/** Its virtual machine runs, its agent is Ready, and there is no report about a job. */
export const isSilent = (pod: PodFacts): boolean =>
  pod.phase === 'running' && pod.runnerID !== undefined && pod.job === 'unknown' && isNodeReady(pod);

/** Neither ended nor being deleted: it counts as a replica. */
export const isAlive = (pod: PodFacts): boolean => pod.deletedAt === undefined && pod.phase !== 'ended';

/** Its runner has reported whether it has a job. */
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

/** The Pods that count as replicas. A retired one counts until it has ended, so that it is not replaced twice. */
export const livePods = ({ lost, retired, unregistered, idle, busy }: PodsByState): readonly PodFacts[] => [
  ...lost,
  ...retired,
  ...unregistered,
  ...idle,
  ...busy,
];

/** How many are to be created. */
export const missingCount = (byState: PodsByState, replicas: number): number =>
  Math.max(0, replicas - livePods(byState).length);

/** The live Pods, grouped as the status counts them. */
export type StatusGroups = ReturnType<typeof statusGroupsOf>;

export const statusGroupsOf = (byState: PodsByState) => {
  const { lost, retired, unregistered, idle, busy } = byState;
  // A Pod whose runner has not reported yet may have a job, but the status should not claim it.
  const isStarting = (pod: PodFacts): boolean => isNodeReady(pod) && pod.retiredAt === undefined && !hasReported(pod);
  const holding = [...busy, ...retired.filter((pod) => !reportsNoJob(pod))];
  return {
    alive: livePods(byState),
    /** Wait for a job. */
    warm: idle.filter(hasReported),
    /** Have a job, or may have one. */
    busy: holding.filter((pod) => !isStarting(pod)),
    /** Have no job, get none, and are about to end. */
    retiring: [...retired.filter(reportsNoJob), ...lost],
    /** Have no runner yet, or it has not started. */
    starting: [...unregistered, ...idle.filter((pod) => !hasReported(pod)), ...holding.filter(isStarting)],
  };
};
