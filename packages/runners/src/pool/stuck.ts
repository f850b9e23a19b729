import { isAlive } from './classify.ts';
import type { Limits } from './limits.ts';
import type { PodFacts } from './snapshot.ts';

/** `terminating`: deleted, and still there. `unbooted`: on a Mac, and no virtual machine runs. `silent`: one runs, and never reported. */
export interface Stuck {
  readonly kind: 'terminating' | 'unbooted' | 'silent';
  readonly pod: PodFacts;
  readonly since: number;
}

/** What it waits for, and since when. Undefined: nothing. Who waits for a Mac is not stuck; for that there is NoRoom. */
const waitOf = (pod: PodFacts): Stuck | undefined => {
  const { deletedAt, boundAt, runningSince, node, phase, job } = pod;
  if (deletedAt !== undefined) return { kind: 'terminating', pod, since: deletedAt };
  if (!isAlive(pod) || node.kind !== 'there') return undefined;
  if (phase === 'pending') return boundAt === undefined ? undefined : { kind: 'unbooted', pod, since: boundAt };
  const since = runningSince ?? boundAt;
  return job !== 'unknown' || since === undefined ? undefined : { kind: 'silent', pod, since };
};

/** When it counts as stuck, if nothing else happens to it. */
export const stuckAt = (pod: PodFacts, { stuckAfterMs }: Limits): number | undefined => {
  const wait = waitOf(pod);
  return wait && wait.since + stuckAfterMs;
};

/** Those that are, the oldest first. */
export const stuckIn = (pods: readonly PodFacts[], now: number, { stuckAfterMs }: Limits): readonly Stuck[] =>
  pods
    .flatMap((pod) => waitOf(pod) ?? [])
    .filter(({ since }) => now - since >= stuckAfterMs)
    .sort((a, b) => a.since - b.since || (a.pod.name < b.pod.name ? -1 : 1));
