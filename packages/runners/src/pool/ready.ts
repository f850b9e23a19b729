import { say } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { hasNoRoom, isHeard } from './classify.ts';
import type { Counts } from './counts.ts';
import type { Ranks } from './ranks.ts';
import { capOf, inFlightOf } from './roll.ts';
import type { PodFacts, Snapshot } from './snapshot.ts';
import { counted, listed, since } from './words.ts';

/** The first thing that is not as wanted counts. */
export const readyOf = (snapshot: Snapshot, ranks: Ranks, counts: Counts): ConditionUpdate => {
  const { pool, github } = snapshot;
  const { alive } = counts;
  const stale = alive.filter(({ isStale }) => isStale);
  const who = whoIsThere(counts);
  if (pool.isDeleting) return say('RunnerPool', 'Ready', 'Deleting', `${who}${whatHoldsDeletion(snapshot, ranks)}`);
  if (!pool.hasGitHub)
    return say('RunnerPool', 'Ready', 'NoGitHub', 'Nobody knows where the runners belong: set spec.github.');
  const working = counts.warm.length + counts.busy.length;
  if (stale.length === 0 && alive.length === pool.replicas && working === pool.replicas && !alive.some(isUnheard))
    return say('RunnerPool', 'Ready', 'Converged', pool.replicas === 0 ? 'No runners are wanted.' : who);
  if (github === 'unusable')
    return say(
      'RunnerPool',
      'Ready',
      'GitHubUnavailable',
      `${who} They stay. ${wanted(pool.replicas)} See GitHubReachable.`,
    );
  if (alive.length > pool.replicas)
    return say('RunnerPool', 'Ready', 'Draining', `${who} ${wanted(pool.replicas)} Those with a job finish it.`);
  if (stale.length > 0) return say('RunnerPool', 'Ready', 'Rolling', whoIsRolled(snapshot, ranks, stale));
  const homeless = counts.starting.filter(hasNoRoom);
  if (homeless.length > 0)
    return say('RunnerPool', 'Ready', 'NoRoom', `${who} ${whoHasNoRoom(homeless)} ${wanted(pool.replicas)}`);
  return say('RunnerPool', 'Ready', 'Filling', `${who} ${wanted(pool.replicas)}${whoIsUnheard(alive)}`);
};

const wanted = (replicas: number): string => `${counted(replicas, 'is', 'are')} wanted.`;

const isUnheard = (pod: PodFacts): boolean => !isHeard(pod);

/** `3 Pods: 2 wait for a job and 1 has one or may have one.` */
const whoIsThere = ({ alive, warm, busy, starting, retiring }: Counts): string => {
  if (alive.length === 0) return 'There are no Pods.';
  const parts = [
    warm.length > 0 && counted(warm.length, 'waits for a job', 'wait for a job'),
    busy.length > 0 && counted(busy.length, 'is busy', 'are busy'),
    starting.length > 0 && counted(starting.length, 'starts', 'start'),
    retiring.length > 0 && counted(retiring.length, 'is about to go', 'are about to go'),
  ];
  return `${counted(alive.length, 'Pod')}: ${listed(parts)}.`;
};

const whatHoldsDeletion = ({ github }: Snapshot, { idle }: Ranks): string =>
  github === 'unusable' && idle.length > 0
    ? ` ${counted(idle.length, 'Pod')} without a job can only go when GitHub answers: see GitHubReachable.`
    : '';

const whoIsRolled = ({ pool }: Snapshot, ranks: Ranks, stale: readonly PodFacts[]): string => {
  const busy = ranks.busy.filter(({ isStale }) => isStale).length;
  const finishing = busy > 0 ? ` ${counted(busy, 'is busy, and finishes', 'are busy, and finish')} first.` : '';
  const flight = `Being replaced: ${inFlightOf(ranks, pool)}, at most ${capOf(pool)} at a time`;
  return `${stale.length} of ${pool.replicas} have another image.${finishing} ${flight}.${whoIsUnheard(stale)}`;
};

const whoHasNoRoom = (homeless: readonly PodFacts[]): string => {
  const [first] = [...homeless].sort((a, b) => (a.boundAt ?? a.createdAt) - (b.boundAt ?? b.createdAt));
  const oldest = first === undefined ? '' : `, ${first.name} ${since(first.boundAt ?? first.createdAt)}`;
  return `For ${counted(homeless.length, 'Pod')} there is no room on the Macs of the fleet${oldest}: it takes more Macs, or fewer replicas.`;
};

const whoIsUnheard = (pods: readonly PodFacts[]): string => {
  const names = pods
    .filter(isUnheard)
    .map(({ name }) => name)
    .sort();
  return names.length === 0
    ? ''
    : ` On a Mac that does not answer: ${names[0] ?? ''}${names.length > 1 ? ` and ${names.length - 1} more` : ''}.`;
};
