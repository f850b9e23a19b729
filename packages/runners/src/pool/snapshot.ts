import { annotations, finalizers, parseRunnerVersion, runnerBusyCondition, type RunnerPool } from '@tartan/api';
import { hasFinalizer, type Live, type nodes, type pods, type serviceAccounts } from '@tartan/kube';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type Node = NonNullable<(typeof nodes)['ofType']>;
export type ServiceAccount = NonNullable<(typeof serviceAccounts)['ofType']>;

/** Times are milliseconds since the epoch. */

/** All that matters of a pool and its Pods. */
export interface Snapshot {
  readonly now: number;
  readonly pool: PoolFacts;
  readonly pods: readonly PodFacts[];
  /** ServiceAccounts of the pool that no Pod bears the name of. */
  readonly orphanedAccounts: readonly string[];
  /** Whether it makes sense to ask GitHub: no Secret, a refusal and a limit that lasts say no. What is there is left alone then. */
  readonly github: 'usable' | 'unusable';
}

export interface PoolFacts {
  readonly replicas: number;
  readonly maxConcurrentPercent: number;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** `spec.github` is set. Without it no Pod is made. */
  readonly hasGitHub: boolean;
}

export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly createdAt: number;
  /** Its image is not that of the pool. */
  readonly isStale: boolean;
  /** When it should be gone. Undefined: nobody has deleted it. */
  readonly deletedAt: number | undefined;
  /**
   * `pending`: no virtual machine runs, as far as its agent has told. `running`: one does, or did when it was last heard of. `ended`: none
   * ever will again.
   */
  readonly phase: 'pending' | 'running' | 'ended';
  readonly node: NodeFacts;
  /** Since when it is bound to a Node, or Pending for want of one. */
  readonly boundAt: number | undefined;
  /** Since when its virtual machine runs, as its agent tells. Undefined: it told of none. */
  readonly runningSince: number | undefined;
  /** The runner at GitHub. Undefined: it was given no configuration, so it has no job and gets none. */
  readonly runnerID: number | undefined;
  /** Since when GitHub does not know it any more. */
  readonly retiredAt: number | undefined;
  /** GitHub showed its runner as offline when that was done: no listener was connected, so it had no job. */
  readonly isRetiredOffline: boolean;
  /** Since when GitHub has shown its runner as offline, as far as this process has seen. Undefined: it was online, or nobody looked. */
  readonly offlineSince: number | undefined;
  /** The release of its runner, such as `2.335.0`, by the guest's own word. */
  readonly runnerVersion: string | undefined;
  /** The guest's own word, told by the agent. */
  readonly job: 'none' | 'started' | 'unknown';
}

export type NodeFacts =
  | { readonly kind: 'unscheduled' /** The scheduler finds no place. */; readonly isUnschedulable: boolean }
  /** The Node does not exist: the Mac is gone, and the virtual machine with it. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'exists';
      /** Its agent speaks: Ready is True. */
      readonly isReady: boolean;
      /** When Ready became what it is. What an agent that comes back tells of its Pods may be a while behind. */
      readonly readyChangedAt: number | undefined;
      /** Cordoned, or being deleted. */
      readonly isDraining: boolean;
    };

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
  runnerVersion: parseRunnerVersion(conditionOf(pod, runnerBusyCondition)?.message ?? undefined),
  job: jobOf(pod),
});

/** For a Pod that is bound to no Node. */
export const unscheduledNode = (pod: Live<Pod>): NodeFacts => {
  const condition = conditionOf(pod, 'PodScheduled');
  return {
    kind: 'unscheduled',
    isUnschedulable: condition?.status === 'False' && condition.reason === 'Unschedulable',
  };
};

export const nodeFacts = (node: Live<Node>): NodeFacts => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    kind: 'exists',
    isReady: ready?.status === 'True',
    readyChangedAt: timeOf(ready?.lastTransitionTime ?? undefined),
    isDraining: node.spec?.unschedulable === true || node.metadata.deletionTimestamp !== undefined,
  };
};

/** A Node of which nothing is known just now: Pods there may have a job. */
export const unknownNode: NodeFacts = { kind: 'exists', isReady: false, readyChangedAt: undefined, isDraining: false };

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
