import type { PodFacts } from './snapshot.ts';

export type Standing =
  /** Somebody has deleted it: its agent looks after it. */
  | 'going'
  /** Its virtual machine has ended for good. */
  | 'ended'
  /** Its Mac is gone, and whatever ran on it. */
  | 'lost'
  /** GitHub has forgotten its runner. It may be at a job that was on its way. */
  | 'retired'
  /** It was given no configuration, so it cannot have a job. */
  | 'bare'
  /** By its own word it has no job. Whether that is so, GitHub must be asked. */
  | 'idle'
  /** It has a job, or may have one. */
  | 'busy';

/**
 * How a Pod stands. The first line that fits counts:
 *
 *   | the Pod                                                     | stands  |
 *   |-------------------------------------------------------------|---------|
 *   | is deleted                                                  | going   |
 *   | Succeeded, Failed                                           | ended   |
 *   | is on a Node that does not exist                            | lost    |
 *   | is marked as retired                                        | retired |
 *   | has no runner, and no virtual machine                       | bare    |
 *   | has a runner, and shows that it has no job                  | idle    |
 *   | anything else, such as one that runs and is not marked yet  | busy    |
 */
export const standingOf = (pod: PodFacts): Standing => {
  if (pod.deletedAt !== undefined) return 'going';
  if (pod.phase === 'ended') return 'ended';
  if (pod.node.kind === 'gone') return 'lost';
  if (pod.retiredAt !== undefined) return 'retired';
  if (pod.runnerID === undefined) return hasNoMachine(pod) ? 'bare' : 'busy';
  return showsNoJob(pod) ? 'idle' : 'busy';
};

/** Whether the agent of its Mac says, and can be heard saying, that it has no job. What nobody says may be a job. */
export const showsNoJob = (pod: PodFacts): boolean => isHeard(pod) && (hasNoMachine(pod) || pod.job === 'none');

const hasNoMachine = ({ phase, job }: PodFacts): boolean => phase === 'pending' && job !== 'started';

/** One that has no Mac has nobody to be heard of. */
export const isHeard = ({ node }: PodFacts): boolean =>
  node.kind === 'unbound' || (node.kind === 'there' && node.isHeard);

/** Its virtual machine runs, its agent is heard, and nobody has said a word about a job. */
export const isSilent = (pod: PodFacts): boolean =>
  pod.phase === 'running' && pod.runnerID !== undefined && pod.job === 'unknown' && isHeard(pod);

/** Neither ended nor deleted: it takes one of the places of the pool. */
export const isAlive = (pod: PodFacts): boolean => pod.deletedAt === undefined && pod.phase !== 'ended';

/** Its runner has said that it waits for a job, or has one. */
export const hasReported = ({ phase, job }: PodFacts): boolean => phase === 'running' && job !== 'unknown';

export const isOnDrainingNode = ({ node }: PodFacts): boolean => node.kind === 'there' && node.isDraining;

/** It waits for a Mac, and the scheduler has found none. */
export const hasNoRoom = ({ node }: PodFacts): boolean => node.kind === 'unbound' && node.noRoom;
