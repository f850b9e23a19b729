import { isSilent, showsNoJob } from './classify.ts';
import type { Limits } from './limits.ts';
import type { PodFacts } from './snapshot.ts';

/**
 * From when on a retired Pod that shows no job has none. GitHub's word at its removal is not a proof: it may have given out a job a moment
 * before. Such a job shows itself in time, if its agent could tell all the while: a Mac that was silent gets the time anew.
 */
export const settledAt = ({ retiredAt, node }: PodFacts, { settleMs }: Limits): number | undefined => {
  if (retiredAt === undefined || node.kind === 'gone') return undefined;
  const heardSince = node.kind === 'there' ? node.heardSince : retiredAt;
  return heardSince === undefined ? undefined : Math.max(retiredAt, heardSince) + settleMs;
};

/** When it was retired no listener was connected, by GitHub's word, or as its virtual machine started later: nobody could have a job. */
const hadNoListener = ({ isRetiredOffline, retiredAt, runningSince }: PodFacts): boolean =>
  isRetiredOffline || (retiredAt !== undefined && runningSince !== undefined && runningSince > retiredAt);

/** Unknown is no, unless there was no listener. Times that are none (NaN) make no comparison true. */
export const hasSettled = (pod: PodFacts, now: number, limits: Limits): boolean => {
  const at = settledAt(pod, limits);
  return at !== undefined && now >= at && (showsNoJob(pod) || (hadNoListener(pod) && isSilent(pod)));
};
