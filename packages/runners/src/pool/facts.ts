import { annotations, finalizers, readRunnerVersion, type RunnerPool, runnerBusyCondition } from '@tartan/api';
import { hasFinalizer, type Live } from '@tartan/kube';
import type { Node, Pod } from './objects.ts';
import type { NodeFacts, PodFacts, PoolFacts } from './snapshot.ts';

/** What objects say, in the words in which it is decided. Nothing that is unclear counts as idle, or as never started. */

export const poolFacts = (pool: Live<RunnerPool>): PoolFacts => ({
  replicas: pool.spec.replicas,
  maxConcurrentPercent: pool.spec.rollout.maxConcurrentPercent,
  isDeleting: pool.metadata.deletionTimestamp !== undefined,
  hasFinalizer: hasFinalizer(pool, finalizers.runnerPool),
  hasGitHub: pool.spec.github !== undefined,
});

export const podFacts = (
  pod: Live<Pod>,
  image: string,
  node: NodeFacts,
  /** When GitHub was first seen to show a runner as offline, by its number. */
  offline: ReadonlyMap<number, number> = new Map(),
): PodFacts => ({
  uid: pod.metadata.uid,
  name: pod.metadata.name,
  createdAt: Date.parse(pod.metadata.creationTimestamp),
  isStale: pod.spec?.containers[0]?.image !== image,
  deletedAt: timeOf(pod.metadata.deletionTimestamp),
  phase: phaseOf(pod),
  node,
  boundAt: boundAtOf(pod),
  runningSince: timeOf(pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? undefined),
  runnerID: runnerIDOf(pod),
  // Whatever cannot be read is written anew: to retire twice does no harm.
  retiredAt: timeOf(pod.metadata.annotations?.[annotations.runnerRetired]),
  isRetiredOffline: annotations.runnerRetiredOffline in (pod.metadata.annotations ?? {}),
  offlineSince: offline.get(runnerIDOf(pod) ?? 0),
  runnerVersion: readRunnerVersion(conditionOf(pod, runnerBusyCondition)?.message ?? undefined),
  job: jobOf(pod),
});

/** For a Pod that is bound to no Node. */
export const unbound = (pod: Live<Pod>): NodeFacts => {
  const condition = conditionOf(pod, 'PodScheduled');
  return { kind: 'unbound', noRoom: condition?.status === 'False' && condition.reason === 'Unschedulable' };
};

export const nodeFacts = (node: Live<Node>): NodeFacts => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    kind: 'there',
    isHeard: ready?.status === 'True',
    heardSince: timeOf(ready?.lastTransitionTime ?? undefined),
    isDraining: node.spec?.unschedulable === true || node.metadata.deletionTimestamp !== undefined,
  };
};

/** A Node of which nothing is known just now: Pods there may have a job. */
export const unheard: NodeFacts = { kind: 'there', isHeard: false, heardSince: undefined, isDraining: false };

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const phaseOf = (pod: Pod): PodFacts['phase'] => {
  if (hasEnded(pod)) return 'ended';
  return (pod.status?.phase ?? 'Pending') === 'Pending' ? 'pending' : 'running';
};

const jobOf = (pod: Pod): PodFacts['job'] => {
  const status = conditionOf(pod, runnerBusyCondition)?.status;
  return status === 'True' ? 'started' : status === 'False' ? 'none' : 'unknown';
};

/** Undefined: nobody knows. */
export const hadJob = (pod: Pod): boolean | undefined => {
  const job = jobOf(pod);
  return job === 'unknown' ? undefined : job === 'started';
};

/** A number that is none is still a sign that there was one. GitHub knows no runner 0. */
export const runnerIDOf = ({ metadata }: Pod): number | undefined => {
  const text = metadata?.annotations?.[annotations.runnerID];
  if (text === undefined) return undefined;
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
};

const boundAtOf = (pod: Live<Pod>): number | undefined => {
  const since = timeOf(conditionOf(pod, 'PodScheduled')?.lastTransitionTime ?? undefined);
  return since ?? (pod.spec?.nodeName === undefined ? undefined : Date.parse(pod.metadata.creationTimestamp));
};

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((each) => each.type === type);

const timeOf = (text: string | undefined): number | undefined => {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
};
